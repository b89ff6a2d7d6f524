// The sizes of a GPT-2 model, by the letters that every formula of the course uses.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shardlings {

struct ModelSize {
  std::int64_t L = 0;  // layers (blocks)
  std::int64_t D = 0;  // model width
  std::int64_t H = 0;  // attention heads; D is a multiple of H
  std::int64_t T = 0;  // tokens per sequence
  std::int64_t V = 0;  // vocabulary

  std::int64_t K() const { return D / H; }  // width of a head
  std::int64_t F() const { return 4 * D; }  // width of the MLP

  bool operator==(const ModelSize&) const = default;
};

// Every rule that `size` breaks, one sentence each, with numbers; empty when it is a model.
std::vector<std::string> violated_rules(const ModelSize& size);

struct ModelPreset {
  std::string_view name;
  ModelSize size;
};

// nano, micro, gpt2.
const std::vector<ModelPreset>& model_presets();

}  // namespace shardlings
