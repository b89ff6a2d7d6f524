#include "storage/safetensors_header.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

#include "base/check.h"
#include "storage/json.h"

namespace shardlings {

namespace {

constexpr std::string_view kMetadataName = "__metadata__";

struct TypeRow {
  StoredType type;
  std::string_view name;
  std::int64_t bytes;
};

constexpr std::array kTypes{
    TypeRow{StoredType::boolean, "BOOL", 1}, TypeRow{StoredType::u8, "U8", 1},
    TypeRow{StoredType::i8, "I8", 1},        TypeRow{StoredType::u16, "U16", 2},
    TypeRow{StoredType::i16, "I16", 2},      TypeRow{StoredType::f16, "F16", 2},
    TypeRow{StoredType::bf16, "BF16", 2},    TypeRow{StoredType::u32, "U32", 4},
    TypeRow{StoredType::i32, "I32", 4},      TypeRow{StoredType::f32, "F32", 4},
    TypeRow{StoredType::u64, "U64", 8},      TypeRow{StoredType::i64, "I64", 8},
    TypeRow{StoredType::f64, "F64", 8},
};

const TypeRow& row_of(StoredType type) {
  const auto row = std::ranges::find(kTypes, type, &TypeRow::type);
  CHECK(row != kTypes.end(), "no such element type: {}", static_cast<int>(type));
  return *row;
}

// Nothing when no int64 holds it.
std::optional<std::int64_t> byte_count(StoredType type, const std::vector<std::int64_t>& shape) {
  std::int64_t bytes = bytes_per_element(type);
  for (const std::int64_t size : shape)
    if (__builtin_mul_overflow(bytes, size, &bytes)) return std::nullopt;
  return bytes;
}

template <class... Args>
[[noreturn]] void refuse(const std::string& where, fmt::format_string<Args...> format,
                         Args&&... args) {
  fail(ExitCode::bad_data, "{}: {}", where, fmt::format(format, std::forward<Args>(args)...));
}

std::string place(const std::string& path, const std::string& tensor) {
  return fmt::format("{}: tensor {}", path, excerpt({tensor}));
}

template <class T>
const T& as(const Json& json, const std::string& where, std::string_view expected) {
  const T* value = std::get_if<T>(&json.value);
  if (value == nullptr) refuse(where, "{} expected, got {}", expected, excerpt(json));
  return *value;
}

std::vector<std::int64_t> sizes(const Json& json, const std::string& where) {
  std::vector<std::int64_t> sizes;
  for (const Json& element : as<Json::Array>(json, where, "a list of sizes")) {
    sizes.push_back(as<std::int64_t>(element, where, "a whole number of at most 63 bits"));
    if (sizes.back() < 0) refuse(where, "a size of at least 0 expected, got {}", sizes.back());
  }
  return sizes;
}

StoredType type_named(const Json& json, const std::string& where) {
  const auto row =
      std::ranges::find(kTypes, as<std::string>(json, where, "an element type"), &TypeRow::name);
  if (row == kTypes.end()) {
    std::vector<std::string_view> names;
    for (const TypeRow& known : kTypes) names.push_back(known.name);
    refuse(where, "one of the element types {} expected, got {}", fmt::join(names, " "),
           excerpt(json));
  }
  return row->type;
}

TensorEntry entry_of(const JsonMember& member, const std::string& path) {
  const std::string where = place(path, member.name);
  const auto& fields = as<Json::Object>(member.value, where, "an object");
  const Json* type = find(fields, "dtype");
  const Json* shape = find(fields, "shape");
  const Json* offsets = find(fields, "data_offsets");
  if (fields.size() != 3 || type == nullptr || shape == nullptr || offsets == nullptr)
    refuse(where, "dtype, shape and data_offsets expected, got {}", excerpt(member.value));

  TensorEntry entry{member.name, type_named(*type, where), sizes(*shape, where)};
  const std::vector<std::int64_t> range = sizes(*offsets, where);
  if (range.size() != 2 || range[0] > range[1])
    refuse(where, "data_offsets: a begin and an end expected, got {}", excerpt(*offsets));
  entry.first_byte = range[0];
  entry.bytes = range[1] - range[0];

  const std::optional<std::int64_t> expected = byte_count(entry.type, entry.shape);
  if (!expected)
    refuse(where, "no file holds {} of shape {}", name_of(entry.type), excerpt(*shape));
  if (*expected != entry.bytes)
    refuse(where, "{} of shape {} takes {} bytes, its data_offsets {} hold {}", name_of(entry.type),
           excerpt(*shape), *expected, excerpt(*offsets), entry.bytes);
  return entry;
}

Metadata metadata_of(const Json& json, const std::string& path) {
  const std::string where = fmt::format("{}: {}", path, kMetadataName);
  Metadata metadata;
  for (const auto& [name, value] : as<Json::Object>(json, where, "an object"))
    metadata[name] = as<std::string>(value, where, "strings");
  return metadata;
}

// The data must be covered exactly: nothing twice, nothing left over. Sorted by place, each tensor
// begins where the one before it ended.
void check_coverage(const std::vector<TensorEntry>& entries, std::int64_t data_bytes,
                    const std::string& path) {
  std::int64_t end = 0;
  for (const TensorEntry& entry : entries) {
    const std::string where = place(path, entry.name);
    if (entry.first_byte != end)
      refuse(where, "its data begin at byte {}, {} expected: {}", entry.first_byte, end,
             entry.first_byte < end ? "it overlaps another tensor" : "no tensor fills the gap");
    end += entry.bytes;  // no overflow: the end stood in the header
    if (end > data_bytes)
      refuse(where, "its data end at byte {}, but the file holds {} bytes of data", end,
             data_bytes);
  }
  if (end != data_bytes)
    refuse(path, "the tensors take {} bytes, but the file holds {} bytes of data", end, data_bytes);
}

Json::Array array_of(const std::vector<std::int64_t>& numbers) {
  Json::Array array;
  for (const std::int64_t number : numbers) array.emplace_back().value = number;
  return array;
}

}  // namespace

std::string_view name_of(StoredType type) {
  return row_of(type).name;
}

std::int64_t bytes_per_element(StoredType type) {
  return row_of(type).bytes;
}

std::string TensorEntry::shape_text() const {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

SafetensorsHeader parse_safetensors_header(std::string_view text, std::int64_t data_bytes,
                                           const std::string& path) {
  const std::string where = path + ": header";
  if (!text.starts_with('{')) refuse(where, "it must begin with {{");
  const Json json = parse_json(text, where);

  SafetensorsHeader header;
  for (const JsonMember& member : as<Json::Object>(json, where, "an object")) {
    if (member.name == kMetadataName)
      header.metadata = metadata_of(member.value, path);
    else
      header.entries.push_back(entry_of(member, path));
  }
  // An empty tensor stands before the one that begins where it does.
  std::ranges::sort(header.entries, {}, [](const TensorEntry& entry) {
    return std::tuple(entry.first_byte, entry.bytes);
  });
  check_coverage(header.entries, data_bytes, path);
  return header;
}

std::string lay_out(std::vector<TensorEntry>& entries, const Metadata& metadata) {
  Json::Object header;
  if (!metadata.empty()) {
    Json::Object object;
    for (const auto& [name, value] : metadata) object.push_back({name, {value}});
    header.push_back({std::string(kMetadataName), {object}});
  }
  std::int64_t end = 0;
  for (TensorEntry& entry : entries) {
    const std::optional<std::int64_t> bytes = byte_count(entry.type, entry.shape);
    CHECK(bytes.has_value(), "{}: shape {}", entry.name, entry.shape_text());
    entry.first_byte = end;
    entry.bytes = *bytes;
    end += *bytes;
    header.push_back({entry.name,
                      {Json::Object{{"dtype", {std::string(name_of(entry.type))}},
                                    {"shape", {array_of(entry.shape)}},
                                    {"data_offsets", {array_of({entry.first_byte, end})}}}}});
  }
  std::string text = json_text({header});
  text.append((8 - text.size() % 8) % 8, ' ');
  parse_safetensors_header(text, end, "what would be written");  // what we write, we read
  return text;
}

}  // namespace shardlings
