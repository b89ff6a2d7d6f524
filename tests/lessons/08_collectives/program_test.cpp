// What the text promises of the program: its sheet, its checks on any number of ranks, and that MPI
// was told to send what the report says.
//
// Each of these was broken once, and the tests named failed:
//   a ledger that misses an element of each message   "every row ...", "over MPI, ..."
//   rows of traffic that one rank alone cannot have   "checks pass ..."
#include <fmt/core.h>

#include "comm/steps.h"
#include "course/report.h"
#include "tests/driver/shell.h"
#include "tests/support/catch.h"
#include "tests/support/pmpi_counter.h"

using namespace shardlings;

namespace {

constexpr std::int64_t kSteps = 2;

std::string options(const TemporaryFolder& folder, const std::string& more) {
  return fmt::format(" --sheet solution --steps {} --output {} {}", kSteps, folder.path().string(),
                     more);
}

struct Sent {
  std::int64_t messages = 0, bytes = 0;
};

// Of the rows whose names begin so, on one rank and in one step.
Sent sent(const Report& report, int rank, const std::string& what = "") {
  Sent sum;
  for (const TrafficRow& row : report.traffic.at(static_cast<std::size_t>(rank)).rows) {
    if (!row.what.starts_with(what)) continue;
    REQUIRE(row.axis == "dp");
    REQUIRE(row.operation == "send");
    sum.messages += row.messages;
    sum.bytes += row.sent_bytes;
  }
  return sum;
}

// Of f32, and of no empty shard.
void require_closed_form(const Report& report, int n, std::int64_t N) {
  Sent halving;
  for (int rank = 0; rank < n; ++rank) {
    const auto bytes_without = [&](int r) { return 4 * (N - shard(N, n, r % n).count); };
    CAPTURE(n, rank);
    REQUIRE(sent(report, rank, "reduce_scatter").bytes == bytes_without(rank));
    REQUIRE(sent(report, rank, "all_gather").bytes == bytes_without(rank + 1));
    REQUIRE(sent(report, rank, "all_to_all").bytes == bytes_without(rank));
    REQUIRE(sent(report, rank, "star").bytes == 4 * N * (rank == 0 ? n - 1 : 1));
    for (const char* what : {"reduce_scatter", "all_gather", "all_to_all"})
      REQUIRE(sent(report, rank, what).messages == n - 1);
    for (const char* what : {"halving", "doubling", "folding"}) {
      halving.messages += sent(report, rank, what).messages;
      halving.bytes += sent(report, rank, what).bytes;
    }
  }
  REQUIRE(halving.bytes == 4 * 2 * (n - 1) * N);
  REQUIRE(halving.messages == (n == 2 ? 4 : n == 3 ? 6 : 16));
}

void require_sent_over_mpi(int n, std::int64_t N, const std::string& environment) {
  const TemporaryFolder folder;
  const std::string counts = folder.path() / "mpi";
  const Outcome outcome = shell(
      fmt::format("timeout 30 " MPIEXEC " -n {} env OMP_NUM_THREADS=1 {} LD_PRELOAD=" COUNTER
                  " SENT_OVER_MPI={} " LESSON_08 "{}",
                  n, environment, counts,
                  options(folder, fmt::format("--ranks {} --launcher mpi --elements {}", n, N))));
  CAPTURE(n, environment, outcome.output);
  REQUIRE(outcome.code == 0);
  const Report report = read_report(folder.path() / "report.json");
  REQUIRE(report.ranks == n);
  REQUIRE(report.launcher == "mpi");
  require_closed_form(report, n, N);
  for (int rank = 0; rank < n; ++rank) {
    const std::string file = fmt::format("{}.{}", counts, rank);
    const bool waits = !environment.empty();
    REQUIRE((read_file(file).find("Issend\n") != std::string::npos) == waits);
    const SentOverMpi over_mpi = read_sent(file)["dp"];
    REQUIRE(over_mpi.messages == kSteps * sent(report, rank).messages);
    REQUIRE(over_mpi.bytes == kSteps * sent(report, rank).bytes);
  }
}

}  // namespace

TEST_CASE("every row of the sheet is exact in every configuration, on every rank") {
  const TemporaryFolder folder;
  const Outcome outcome = shell(LESSON_08 + options(folder, "--judge sheet"));
  CAPTURE(outcome.output);
  REQUIRE(outcome.code == 0);
  REQUIRE(outcome.output.find("in 60 configurations") != std::string::npos);
}

TEST_CASE("checks pass and rows are exact on one to six ranks") {
  for (const char* more : {"--ranks 1", "--ranks 2", "--ranks 3 --dtype f64 --elements 1",
                           "--ranks 4", "--ranks 4 --elements 5 --cluster h100x8",
                           "--ranks 6 --dtype f64", "--ranks 3 --backend guarded"}) {
    const TemporaryFolder folder;
    const std::string size =
        std::string(more).find("elements") == std::string::npos ? " --elements 1003" : "";
    const Outcome outcome = shell("timeout 30 " LESSON_08 + options(folder, more + size));
    CAPTURE(more, outcome.output);
    REQUIRE(outcome.code == 0);
    REQUIRE(outcome.output.find("lesson 08 collectives: all checks passed") != std::string::npos);
  }
}

TEST_CASE("over MPI, what was sent is the closed form and what the report says") {
  for (int n = 2; n <= 4; ++n) {
    require_sent_over_mpi(n, 20'001, "");  // beyond what MPICH keeps for a receiver
    require_sent_over_mpi(n, 1001, "SHARDLINGS_SYNCHRONOUS_SENDS=1");
  }
}
