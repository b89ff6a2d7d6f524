// Tensors by name, to and from safetensors files.
#pragma once

#include <map>
#include <span>
#include <string>

#include "storage/safetensors.h"
#include "tensor/tensor.h"

namespace shardlings {

// A handle: whoever reads a file into it fills the tensor of whoever made it.
struct NamedTensor {
  std::string name;
  Tensor value;  // f32, f64 or bf16
};

// In the order given. Errors: Error(io); see SafetensorsWriter.
// Cost: the largest tensor in host memory.
void write_tensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                   const Metadata& metadata);

// The stored form of a tensor's element type.
StoredType stored_type(DType type);

using EntriesByName = std::map<std::string, const TensorEntry*>;

// Fills each tensor from the entry of its name, converted from F64, F32, F16 or BF16 to its type.
// Nothing is filled before names, shapes and types have been found right.
// Errors: Error(bad_data) that lists the names which are missing or unknown, or the tensor whose
// shape or type does not fit.
// Cost: twice the largest tensor in host memory.
void read_tensors(const SafetensorsFile& file, const EntriesByName& entries,
                  std::span<const NamedTensor> tensors);

}  // namespace shardlings
