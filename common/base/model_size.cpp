#include "base/model_size.h"

#include "base/check.h"

namespace shardlings {

std::vector<std::string> violated_rules(const ModelSize& size) {
  std::vector<std::string> rules;
  const auto at_least_one = [&](std::int64_t value, const char* what) {
    if (value < 1) rules.push_back(fmt::format("{} must be at least 1, got {}", what, value));
  };
  at_least_one(size.L, "layers L");
  at_least_one(size.D, "width D");
  at_least_one(size.H, "heads H");
  at_least_one(size.T, "context T");
  at_least_one(size.V, "vocabulary V");
  if (size.H >= 1 && size.D % size.H != 0)
    rules.push_back(fmt::format("width D = {} is not divisible by heads H = {}", size.D, size.H));
  return rules;
}

const std::vector<ModelPreset>& model_presets() {
  static const std::vector<ModelPreset> presets{
      {"nano", {.L = 4, .D = 128, .H = 4, .T = 128, .V = 256}},
      {"micro", {.L = 6, .D = 256, .H = 8, .T = 256, .V = 256}},
      {"gpt2", {.L = 12, .D = 768, .H = 12, .T = 1024, .V = 50257}},
  };
  return presets;
}

}  // namespace shardlings
