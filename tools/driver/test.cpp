#include "base/check.h"
#include "configured.h"
#include "tools/driver/build.h"
#include "tools/driver/command.h"

namespace shardlings {

namespace {

// Builds everything in `folder` and tells whether the tests that `options` of ctest select pass.
bool suite_passes(const std::string& folder, const std::string& name, const CommandLine& options) {
  run_quietly({"cmake", "--build", folder}, "building everything: " + name, "all-" + name);
  CommandLine ctest{
      "ctest", "--test-dir", folder, "--parallel", "2", "--output-on-failure", "--no-tests=error"};
  ctest.insert(ctest.end(), options.begin(), options.end());
  return run(ctest) == 0;
}

}  // namespace

int run_tests(Arguments arguments) {
  CommandLine options(arguments.begin(), arguments.end());
  const bool slow = std::erase(options, "--slow") > 0;
  if (!slow) options.insert(options.end(), {"--label-exclude", "slow"});
  bool passed = suite_passes(kBuildFolder, "release", options);
  for (const std::string preset : {"asan", "tsan"}) {
    if (!slow) break;
    run_quietly({"cmake", "-S", kSourceFolder, "--preset", preset}, "configuring: " + preset,
                "configure-" + preset);
    passed &= suite_passes(fmt::format("{}/build/{}", kSourceFolder, preset), preset, options);
  }
  return passed ? 0 : static_cast<int>(ExitCode::check_failed);
}

}  // namespace shardlings
