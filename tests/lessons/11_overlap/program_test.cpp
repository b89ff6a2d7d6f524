// What the text promises of the program: the sheet, lesson 10's losses to the bit, the bytes that
// MPI was really told to send, the trace, and the table of exposed times.
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/support/mpi_program.h"

using namespace shardlings;

namespace {

const std::string kSmall = "--layers 2 --width 24 --heads 3 --context 33 --batch 7 --bucket 3000 ";

void require_same_bits(const Report& got, const Report& expected) {
  REQUIRE(got.losses.size() == 3);
  CHECK(got.losses == expected.losses);
  CHECK(got.gradient_norms == expected.gradient_norms);
}

}  // namespace

TEST_CASE("every row of the sheet is exact in every configuration, on every rank") {
  const TemporaryFolder folder;
  const Outcome outcome =
      shell(LESSON_11 " --judge sheet --sheet solution --output " + folder.path().string());
  CAPTURE(outcome.output);
  CHECK(outcome.code == 0);
  CHECK(outcome.output.find("in 80 configurations") != std::string::npos);
}

TEST_CASE("losses and norms have the bits of lesson 10's, on threads and over MPI") {
  struct Case {
    int n, M;
    bool over_mpi;
  };
  for (const auto& [n, M, over_mpi] :
       {Case{1, 3, false}, {2, 3, true}, {3, 1, false}, {4, 3, true}}) {
    CAPTURE(n, M);
    const std::string options = kSmall + fmt::format("--steps 3 --micro-batches {} ", M),
                      ranks = fmt::format("--ranks {}", n);
    const Report expected = run_alone(LESSON_10, options + ranks);
    require_same_bits(run_alone(LESSON_11, options + ranks), expected);
    if (over_mpi)
      require_same_bits(run_under_mpi(LESSON_11, n, options + "--dtype f64").report, expected);
  }
}

TEST_CASE("MPI was told to send what the report says") {
  const int n = GENERATE(2, 3, 4);
  require_mpi_saw_the_ledger(LESSON_11, n, kSmall);
}

TEST_CASE("trace.json has the sums of every rank beside what it computes") {
  const TemporaryFolder folder;
  const Outcome outcome = shell(LESSON_11 " --ranks 3 --cluster h100x8 --steps 1 --sample 0 " +
                                kSmall + "--output " + folder.path().string());
  CAPTURE(outcome.output);
  REQUIRE(outcome.code == 0);
  const auto trace = nlohmann::json::parse(read_file(folder.path() / "trace.json"));
  std::map<int, int> sums, layers;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    const std::string name = event.at("name");
    const int rank = event.at("pid");
    sums[rank] += name == "all_reduce gradients";
    layers[rank] += name.starts_with("h.");
  }
  REQUIRE(sums.size() == 3);
  for (int rank = 0; rank < 3; ++rank) {
    CHECK(sums[rank] > 0);
    CHECK(layers[rank] > 0);
  }
}
