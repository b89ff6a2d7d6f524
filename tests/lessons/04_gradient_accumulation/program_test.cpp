// What the text promises of the program: the wall, the sheet, and the losses of lesson 01.
#include "course/report.h"
#include "tests/driver/shell.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

// `folder` gets the report.
Outcome run(const std::string& program, const TemporaryFolder& folder, const std::string& options) {
  return shell(program + " --sheet solution --sample 0 --output " + folder.path().string() +
               options);
}

std::vector<double> losses(const std::string& program, const std::string& options) {
  const TemporaryFolder folder;
  const Outcome outcome = run(program, folder, " --dtype f64 --steps 3" + options);
  CAPTURE(outcome.output);
  REQUIRE(outcome.code == 0);
  return read_report(folder.path() / "report.json").losses;
}

}  // namespace

TEST_CASE("a batch that does not fit in one part fits in four") {
  const TemporaryFolder folder;
  const std::string options = " --device-memory 48MiB --steps 2 --micro-batches ";
  const Outcome whole = run(LESSON_04, folder, options + "1");
  CAPTURE(whole.output);
  CHECK(whole.code == 75);
  CHECK(whole.output.find("out of device memory: h.2.") != std::string::npos);
  CHECK(run(LESSON_04, folder, options + "4").code == 0);
}

TEST_CASE("every row of the sheet is exact in every configuration") {
  const TemporaryFolder folder;
  const Outcome outcome = run(LESSON_04, folder, " --judge sheet");
  CAPTURE(outcome.output);
  CHECK(outcome.code == 0);
  CHECK(outcome.output.find("in 24 configurations") != std::string::npos);
}

TEST_CASE("with all tokens valid, the losses are those of lesson 01") {
  const std::vector<double> expected = losses(LESSON_01, "");
  const std::vector<double> got = losses(LESSON_04, " --batch 8 --valid all");
  REQUIRE(got.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(got[i] == Approx(expected.at(i)).epsilon(1e-12));
}

TEST_CASE("one factor for all micro-batches ends the run") {
  const TemporaryFolder folder;
  const Outcome outcome =
      run(ONE_FOR_ALL, folder,
          " --layers 1 --width 8 --heads 1 --context 8 --batch 3 --micro-batches 2 --steps 1");
  CAPTURE(outcome.output);
  CHECK(outcome.code == 70);
  CHECK(outcome.output.find("backward_scales: 1 factors for 2 micro-batches") != std::string::npos);
}
