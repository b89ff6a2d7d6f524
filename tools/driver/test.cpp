#include "base/check.h"
#include "configured.h"
#include "tools/driver/build.h"
#include "tools/driver/command.h"

namespace shardlings {

namespace {

// Builds `target` in `folder` and tells whether the tests that `options` of ctest select pass.
bool suite_passes(const std::string& folder, const std::string& name, const std::string& target,
                  const CommandLine& options) {
  run_quietly({"cmake", "--build", folder, "--target", target},
              fmt::format("building {}: {}", target, name), target + "-" + name);
  CommandLine ctest{
      "ctest", "--test-dir", folder, "--parallel", "2", "--output-on-failure", "--no-tests=error"};
  ctest.insert(ctest.end(), options.begin(), options.end());
  return run(ctest) == 0;
}

std::string configured(const std::string& preset) {
  run_quietly({"cmake", "-S", kSourceFolder, "--preset", preset}, "configuring: " + preset,
              "configure-" + preset);
  return fmt::format("{}/build/{}", kSourceFolder, preset);
}

}  // namespace

int run_tests(Arguments arguments) {
  CommandLine options(arguments.begin(), arguments.end());
  const bool slow = std::erase(options, "--slow") > 0;
  if (!slow) options.insert(options.end(), {"--label-exclude", "slow"});
  bool passed = suite_passes(kBuildFolder, "release", "all", options);
  if (slow) {
    for (const std::string preset : {"asan", "tsan"})
      passed &= suite_passes(configured(preset), preset, "all", options);
    if (output_of({"clang++", "--version"}).empty())
      fmt::print("skipped: fuzzing needs clang++ (apt-get install clang)\n");
    else
      passed &= suite_passes(configured("fuzz"), "fuzz", "fuzz_safetensors", {"-R", "^fuzz_"});
  }
  return passed ? 0 : static_cast<int>(ExitCode::check_failed);
}

}  // namespace shardlings
