// The wall that the lesson's text leads to: with its memory, stored scores do not fit, tiles do.
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
