#include "storage/named_tensors.h"

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "base/check.h"
#include "storage/json.h"

namespace shardlings {

namespace {

std::vector<std::int64_t> sizes_of(const Shape& shape) {
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < shape.rank(); ++i) sizes.push_back(shape[i]);
  return sizes;
}

// IEEE 754 binary16: sign, 5 bits of exponent, 10 of fraction.
float from_f16(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const float sign = bits >> 15 ? -1.0f : 1.0f;
  if (exponent == 31)
    return fraction != 0 ? std::numeric_limits<float>::quiet_NaN()
                         : sign * std::numeric_limits<float>::infinity();
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
}

// The entry's values, stored as `Stored`, as `T`.
template <class T, class Stored>
std::vector<T> read_as(const SafetensorsFile& file, const TensorEntry& entry, auto convert) {
  std::vector<Stored> stored(static_cast<std::size_t>(entry.bytes) / sizeof(Stored));
  file.read(entry, std::as_writable_bytes(std::span(stored)));
  if constexpr (std::is_same_v<T, Stored>) {
    return stored;
  } else {
    std::vector<T> values;
    values.reserve(stored.size());
    for (const Stored value : stored) values.push_back(static_cast<T>(convert(value)));
    return values;
  }
}

bool is_real(StoredType type) {
  return type == StoredType::f64 || type == StoredType::f32 || type == StoredType::f16 ||
         type == StoredType::bf16;
}

template <class T>
std::vector<T> values_of(const SafetensorsFile& file, const TensorEntry& entry) {
  const auto as_it_is = [](auto value) { return value; };
  if (entry.type == StoredType::f64) return read_as<T, double>(file, entry, as_it_is);
  if (entry.type == StoredType::f32) return read_as<T, float>(file, entry, as_it_is);
  if (entry.type == StoredType::f16) return read_as<T, std::uint16_t>(file, entry, from_f16);
  CHECK(entry.type == StoredType::bf16, "{} of type {}", entry.name, name_of(entry.type));
  return read_as<T, Bf16>(file, entry, as_it_is);
}

// Of many names, the first few.
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i)
    text += (i == 0 ? "" : ", ") + excerpt({names[i]});
  if (names.size() > kShown) text += fmt::format(" and {} more", names.size() - kShown);
  return names.empty() ? "none" : text;
}

void check_names(const std::string& path, const EntriesByName& entries,
                 std::span<const NamedTensor> tensors) {
  std::set<std::string> expected;
  for (const NamedTensor& tensor : tensors) expected.insert(tensor.name);
  std::vector<std::string> missing, unknown;
  for (const std::string& name : expected)
    if (!entries.contains(name)) missing.push_back(name);
  for (const auto& [name, entry] : entries)
    if (!expected.contains(name)) unknown.push_back(name);
  if (!missing.empty() || !unknown.empty())
    fail(ExitCode::bad_data, "{}: not the tensors of this model: missing {}; unknown {}", path,
         listed(missing), listed(unknown));
}

}  // namespace

StoredType stored_type(DType type) {
  if (type == DType::i32) return StoredType::i32;
  if (type == DType::bf16) return StoredType::bf16;
  return type == DType::f32 ? StoredType::f32 : StoredType::f64;
}

void write_tensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                   const Metadata& metadata) {
  std::vector<TensorEntry> entries;
  for (const auto& [name, value] : tensors)
    entries.push_back({name, stored_type(value.dtype()), sizes_of(value.shape())});
  SafetensorsWriter writer(path, std::move(entries), metadata);
  for (const NamedTensor& tensor : tensors)
    with_real_or_bf16(tensor.value.dtype(), [&]<class T>(T) {
      const std::vector<T> values = tensor.value.to_host<T>();
      writer.append(std::as_bytes(std::span(values)));
    });
  writer.commit();
}

void read_tensors(const SafetensorsFile& file, const EntriesByName& entries,
                  std::span<const NamedTensor> tensors) {
  check_names(file.path(), entries, tensors);
  for (const auto& [name, value] : tensors) {
    const TensorEntry& entry = *entries.at(name);
    const TensorEntry expected{name, stored_type(value.dtype()), sizes_of(value.shape())};
    if (entry.shape != expected.shape || !is_real(entry.type))
      fail(ExitCode::bad_data, "{}: tensor {}: {} {} expected, got {} {}", file.path(),
           excerpt({name}), name_of(expected.type), expected.shape_text(), name_of(entry.type),
           entry.shape_text());
  }
  for (const NamedTensor& tensor : tensors)
    with_real_or_bf16(tensor.value.dtype(), [&]<class T>(T) {
      tensor.value.from_host<T>(values_of<T>(file, *entries.at(tensor.name)));
    });
}

}  // namespace shardlings
