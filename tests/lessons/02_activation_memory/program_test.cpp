// What the text promises of the program: with the memory of the wall, stored scores do not fit,
// tiles do; and the check at its end sees a wrong merge.
#include "course/report.h"
#include "tests/driver/shell.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

Outcome run(const std::string& options) {
  const TemporaryFolder folder;
  return shell(PROGRAM " --device-memory 64MiB --steps 2 --sample 0 --sheet solution --output " +
               folder.path().string() + options);
}

}  // namespace

TEST_CASE("stored scores end in the table of what was alive") {
  const Outcome outcome = run(" --scores stored");
  CAPTURE(outcome.output);
  CHECK(outcome.code == 75);
  CHECK(outcome.output.find("out of device memory: h.3.") != std::string::npos);
  CHECK(outcome.output.find("h.0.attn.scores") != std::string::npos);
}

TEST_CASE("tiles fit") {
  const Outcome outcome = run(" --scores tiled");
  CAPTURE(outcome.output);
  CHECK(outcome.code == 0);
  CHECK(outcome.output.find("all checks passed") != std::string::npos);
}

// A small run with a wrong answer to the exercise.
struct WrongRun {
  explicit WrongRun(const std::string& program)
      : outcome(shell(program +
                      " --layers 1 --width 8 --heads 1 --context 17 --batch 1 --steps 1 --sample 0 "
                      "--scores plain --sheet solution --output " +
                      folder.path().string())) {}
  TemporaryFolder folder;
  Outcome outcome;
};

TEST_CASE("a merge with the shares swapped fails the check of plain scores, and no other") {
  const WrongRun run(SHARES_SWAPPED);
  CAPTURE(run.outcome.output);
  CHECK(run.outcome.code == 1);
  const Report report = read_report(run.folder.path() / "report.json");
  REQUIRE(report.checks.size() == 2);
  CHECK(report.checks[0].passed);
  CHECK(!report.checks[1].passed);
  CHECK(report.checks[1].name.starts_with("plain scores"));
}

TEST_CASE("an output that grows in the merge ends the run") {
  const WrongRun run(APPENDED);
  CAPTURE(run.outcome.output);
  CHECK(run.outcome.code == 70);
  CHECK(run.outcome.output.find("merge: 16 elements of o, expected 8") != std::string::npos);
}
