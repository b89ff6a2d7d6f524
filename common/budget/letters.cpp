#include "budget/letters.h"

#include <algorithm>

#include "base/check.h"
#include "budget/words.h"

namespace shardlings {

namespace {

// Larger models than base/model_size.h trains. GPT-2: Radford et al. 2019, table 2; heads of 64.
// GPT-3: Brown et al. 2020, table 2.1, made consistent: the table gives XL 24 heads of 128 for
// D = 2048, where 16 fit, and 13B D = 5140, where 40 heads of 128 make 5120.
const std::vector<ModelPreset>& large_models() {
  static const std::vector<ModelPreset> models{
      {"gpt2-medium", {.L = 24, .D = 1024, .H = 16, .T = 1024, .V = 50257}},
      {"gpt2-large", {.L = 36, .D = 1280, .H = 20, .T = 1024, .V = 50257}},
      {"gpt2-xl", {.L = 48, .D = 1600, .H = 25, .T = 1024, .V = 50257}},
      {"gpt3-small", {.L = 12, .D = 768, .H = 12, .T = 2048, .V = 50257}},
      {"gpt3-medium", {.L = 24, .D = 1024, .H = 16, .T = 2048, .V = 50257}},
      {"gpt3-large", {.L = 24, .D = 1536, .H = 16, .T = 2048, .V = 50257}},
      {"gpt3-xl", {.L = 24, .D = 2048, .H = 16, .T = 2048, .V = 50257}},
      {"gpt3-2.7b", {.L = 32, .D = 2560, .H = 32, .T = 2048, .V = 50257}},
      {"gpt3-6.7b", {.L = 32, .D = 4096, .H = 32, .T = 2048, .V = 50257}},
      {"gpt3-13b", {.L = 40, .D = 5120, .H = 40, .T = 2048, .V = 50257}},
      {"gpt3-175b", {.L = 96, .D = 12288, .H = 96, .T = 2048, .V = 50257}},
  };
  return models;
}

}  // namespace

const std::vector<BytePolicy>& byte_policies() {
  static const std::vector<BytePolicy> policies{
      {.name = "f32", .w = 4, .g = 4, .o = 8, .a = 4},
      {.name = "bf16", .w = 2, .g = 2, .o = 12, .a = 2},
      {.name = "bf16_f32_grads", .w = 2, .g = 4, .o = 12, .a = 2},
      {.name = "f64", .w = 8, .g = 8, .o = 16, .a = 8},
  };
  return policies;
}

Values letters(const ModelSize& size, std::int64_t batch, std::string_view policy) {
  const auto& policies = byte_policies();
  const auto bytes = std::ranges::find(policies, policy, &BytePolicy::name);
  if (bytes == policies.end()) {
    std::vector<std::string_view> names;
    for (const BytePolicy& p : policies) names.push_back(p.name);
    fail(ExitCode::usage, "unknown byte policy {:?}; {}", policy, instead_of(policy, names));
  }
  const auto B = static_cast<double>(batch), T = static_cast<double>(size.T),
             D = static_cast<double>(size.D), H = static_cast<double>(size.H),
             L = static_cast<double>(size.L), V = static_cast<double>(size.V);
  const double P = V * D + T * D + L * (12 * D * D + 13 * D) + 2 * D;
  return {{"B", B},        {"T", T},        {"D", D},        {"H", H},  {"K", D / H},
          {"L", L},        {"F", 4 * D},    {"V", V},        {"P", P},  {"w", bytes->w},
          {"g", bytes->g}, {"o", bytes->o}, {"a", bytes->a}, {"M", 1},  {"batch", B},
          {"dp", 1},       {"tp", 1},       {"pp", 1},       {"cp", 1}, {"ep", 1},
          {"n", 1},        {"rank", 0},     {"stage", 0}};
}

ModelSize model_named(std::string_view name) {
  for (const auto* presets : {&model_presets(), &large_models()})
    for (const ModelPreset& preset : *presets)
      if (preset.name == name) return preset.size;
  fail(ExitCode::usage, "unknown model {:?}; {}", name, instead_of(name, model_names()));
}

std::vector<std::string_view> model_names() {
  std::vector<std::string_view> names;
  for (const auto* presets : {&model_presets(), &large_models()})
    for (const ModelPreset& preset : *presets) names.push_back(preset.name);
  return names;
}

}  // namespace shardlings
