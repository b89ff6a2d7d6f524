// What a safetensors file says about itself: its header, as text and as data.
//
// A file is the header's length (8 bytes, little-endian), the header (JSON, padded with spaces) and
// the data of the tensors, row-major and little-endian. The header names each tensor's element
// type, shape and range of the data; `__metadata__` maps strings to strings.
// Source: huggingface/safetensors, README, "Format".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace shardlings {

// Element types of the format; only some are those of a Tensor.
enum class StoredType { boolean, u8, i8, u16, i16, f16, bf16, u32, i32, f32, u64, i64, f64 };

std::string_view name_of(StoredType type);  // "F32", as in the file
std::int64_t bytes_per_element(StoredType type);

struct TensorEntry {
  std::string name;
  StoredType type = StoredType::f32;
  std::vector<std::int64_t> shape;  // {}: one number
  std::int64_t first_byte = 0;      // of the data
  std::int64_t bytes = 0;

  std::string shape_text() const;  // "[8, 3]"
};

using Metadata = std::map<std::string, std::string>;

struct SafetensorsHeader {
  std::vector<TensorEntry> entries;  // in the order of their data
  Metadata metadata;
};

// The largest header that the format allows.
inline constexpr std::int64_t kMaxHeaderBytes = 100'000'000;

// `data_bytes` is what the file holds behind the header. Every rule of the format is checked: what
// comes back can be read as it stands. `path` begins the message.
// Errors: Error(bad_data) with the path, the tensor, what was expected and what was got.
// Cost: a small multiple of the text, whatever numbers stand in it.
SafetensorsHeader parse_safetensors_header(std::string_view text, std::int64_t data_bytes,
                                           const std::string& path);

// Sets first_byte and bytes of each entry, one behind the other, and returns the header's text,
// padded to a multiple of 8 bytes.
// Requires: names differ, and none is "__metadata__"; sizes are at least 0.
std::string lay_out(std::vector<TensorEntry>& entries, const Metadata& metadata);

}  // namespace shardlings
