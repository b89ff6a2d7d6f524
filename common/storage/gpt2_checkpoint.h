// GPT-2 as a Hugging Face checkpoint: a directory with model.safetensors and config.json, which
// transformers' GPT2LMHeadModel reads and writes.
//
// Tensor names are those of our parameters behind "transformer.": matrices are [in, out] on both
// sides, so nothing is transposed. The output matrix is the token table and is stored once, as
// "transformer.wte.weight"; there is no "lm_head.weight".
#pragma once

#include <filesystem>
#include <span>

#include "base/model_size.h"
#include "storage/named_tensors.h"

namespace shardlings {

// Makes the directory, and writes both files in the type of the tensors, each whole or not at all.
// Requires: `tensors` are all parameters of the model, of one type, named as in parameter.h:
// "wte.weight", "h.0.attn.c_attn.weight", ...
// Errors: Error(io) with the path and the reason; Error(usage) when the directory holds a model of
// another configuration, which is then unharmed.
void export_gpt2(const std::filesystem::path& directory, const ModelSize& size,
                 std::span<const NamedTensor> tensors);

// Fills the tensors, converted to their type; all or none is filled, unless reading itself fails.
// The file may leave "transformer." out, as the published checkpoints do. It may hold what old
// versions stored beside the parameters: the causal masks (h.N.attn.bias, h.N.attn.masked_bias) and
// an lm_head.weight, which must equal the token table.
// Errors: Error(no_input) when a file cannot be opened; Error(bad_data) when one is malformed,
// another model (both configurations are named), or holds other tensors (all are named).
void import_gpt2(const std::filesystem::path& directory, const ModelSize& size,
                 std::span<const NamedTensor> tensors);

}  // namespace shardlings
