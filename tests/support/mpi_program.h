// A lesson's program under mpiexec, and what one of its steps sends: as its report has it, and as
// MPI was told (pmpi_counter.h). The counter sees whole runs; two runs that differ by a step show
// the step. Sources that include this define MPIEXEC and COUNTER.
#pragma once

#include <fmt/format.h>

#include "course/report.h"
#include "tests/driver/shell.h"
#include "tests/support/catch.h"
#include "tests/support/pmpi_counter.h"

namespace shardlings {

using SentByGroup = std::map<std::string, SentOverMpi>;

struct MpiRun {
  Report report;
  std::vector<SentByGroup> sent;  // [rank]
};

// Requires, as Catch2 does: the program ends well.
inline MpiRun run_under_mpi(const std::string& program, int ranks, const std::string& options,
                            const std::string& environment = "") {
  const TemporaryFolder folder;
  const std::string sent = folder.path() / "sent";
  const Outcome outcome = shell(fmt::format(
      "timeout 60 {} -n {} env OMP_NUM_THREADS=1 LD_PRELOAD={} SENT_OVER_MPI={} {} {} --launcher "
      "mpi --ranks {} --sheet solution --sample 0 --output {} {}",
      MPIEXEC, ranks, COUNTER, sent, environment, program, ranks, folder.path().string(), options));
  CAPTURE(outcome.output);
  REQUIRE(outcome.code == 0);
  MpiRun run{.report = read_report(folder.path() / "report.json"), .sent = {}};
  for (int rank = 0; rank < ranks; ++rank)
    run.sent.push_back(read_sent(fmt::format("{}.{}", sent, rank)));
  return run;
}

// The program with the course's sheet, in f64, on one rank or on threads. Requires: it ends well.
inline Report run_alone(const std::string& program, const std::string& options) {
  const TemporaryFolder folder;
  const Outcome outcome = shell(program + " --sheet solution --sample 0 --dtype f64 " + options +
                                " --output " + folder.path().string());
  CAPTURE(outcome.output);
  REQUIRE(outcome.code == 0);
  return read_report(folder.path() / "report.json");
}

// Losses and norms of three steps.
inline void require_equal_steps(const Report& got, const Report& expected) {
  REQUIRE(got.losses.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(got.losses[i] == Approx(expected.losses.at(i)).epsilon(1e-10));
    CHECK(got.gradient_norms[i] == Approx(expected.gradient_norms.at(i)).epsilon(1e-10));
  }
}

// Of every rank: what its report says that a step sends, by axis.
inline std::vector<SentByGroup> booked_per_step(const Report& report) {
  std::vector<SentByGroup> ranks;
  for (const TrafficReport& traffic : report.traffic) {
    SentByGroup& groups = ranks.emplace_back();
    for (const TrafficRow& row : traffic.rows) {
      if (row.messages == 0) continue;
      groups[row.axis].messages += row.messages;
      groups[row.axis].bytes += row.sent_bytes;
    }
  }
  return ranks;
}

// Requires: a step of this program sends something on every rank, and MPI saw what its report says.
inline void require_mpi_saw_the_ledger(const std::string& program, int ranks,
                                       const std::string& options,
                                       const std::string& environment = "") {
  const MpiRun one = run_under_mpi(program, ranks, options + " --steps 1", environment);
  const MpiRun two = run_under_mpi(program, ranks, options + " --steps 2", environment);
  std::vector<SentByGroup> of_a_step = two.sent;
  for (std::size_t rank = 0; rank < of_a_step.size(); ++rank)
    for (auto& [group, sent] : of_a_step[rank]) {
      sent.messages -= one.sent[rank].at(group).messages;
      sent.bytes -= one.sent[rank].at(group).bytes;
    }
  for (SentByGroup& groups : of_a_step) {
    std::erase_if(groups, [](const auto& entry) { return entry.second.messages == 0; });
    REQUIRE_FALSE(groups.empty());
  }
  REQUIRE(of_a_step == booked_per_step(two.report));
}

}  // namespace shardlings
