// The wall that the lesson's text leads to: with its memory, stored blocks do not fit, recomputed
// ones do.
#include "tests/driver/shell.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

Outcome run(const std::string& options) {
  const TemporaryFolder folder;
  return shell(PROGRAM " --device-memory 40MiB --steps 2 --sample 0 --sheet solution --output " +
               folder.path().string() + options);
}

}  // namespace

TEST_CASE("without recomputation the run ends in the table of what was alive") {
  const Outcome outcome = run(" --recompute none");
  CAPTURE(outcome.output);
  CHECK(outcome.code == 75);
  CHECK(outcome.output.find("out of device memory: h.3.") != std::string::npos);
  CHECK(outcome.output.find("h.0.mlp.c_fc (activations)") != std::string::npos);
}

TEST_CASE("recomputed blocks fit") {
  const Outcome outcome = run(" --recompute full");
  CAPTURE(outcome.output);
  CHECK(outcome.code == 0);
  CHECK(outcome.output.find("all checks passed") != std::string::npos);
}
