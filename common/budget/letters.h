// The letters of the course as numbers: what a formula may name without defining it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/model_size.h"
#include "budget/formula.h"

namespace shardlings {

// Bytes per element of weights, gradients and activations, and of what the optimizer keeps per
// parameter: AdamW's two moments, and a master copy of the weight where w is narrower than f32.
struct BytePolicy {
  std::string_view name;
  double w, g, o, a;
};

// f32, bf16, bf16_f32_grads, f64.
const std::vector<BytePolicy>& byte_policies();

// B T D H K L F V P, w g o a, and a step of one micro-batch on one device: batch, its sequences, is
// B; M dp tp pp cp ep n are 1, rank and stage 0. Change or add what differs; take out what the
// learner is to find.
// Requires: B >= 1 and `size` breaks no rule.
// Errors: Error(usage) that names the policies.
Values letters(const ModelSize& size, std::int64_t B, std::string_view policy);

// nano, micro and the GPT-2 and GPT-3 families, from gpt2 to gpt3-175b.
// Errors: Error(usage) that shows the nearest name.
ModelSize model_named(std::string_view name);

// Their names, the smallest of each family first.
std::vector<std::string_view> model_names();

}  // namespace shardlings
