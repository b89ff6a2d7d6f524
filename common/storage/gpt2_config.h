// config.json of a Hugging Face GPT-2 checkpoint: the sizes of the model and the choices in its
// formulas.
#pragma once

#include <string>
#include <string_view>

#include "base/model_size.h"
#include "device/dtype.h"

namespace shardlings {

// What GPT2LMHeadModel reads to build our model: tanh-GELU, epsilon 1e-5, tied output matrix, no
// dropout.
std::string gpt2_config(const ModelSize& size, DType dtype);

// Members that do not change what the model computes may have any value.
// Errors: Error(bad_data) with `path`, and both configurations when they are not of one model.
void check_gpt2_config(std::string_view text, const std::string& path, const ModelSize& size);

}  // namespace shardlings
