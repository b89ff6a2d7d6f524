#include "storage/gpt2_checkpoint.h"

#include <vector>

#include "base/check.h"
#include "storage/gpt2_config.h"
#include "storage/json.h"

namespace shardlings {

namespace {

constexpr std::string_view kPrefix = "transformer.";
constexpr std::string_view kTokenTable = "wte.weight";
constexpr std::string_view kOutputMatrix = "lm_head.weight";
constexpr std::int64_t kMaxConfigBytes = 1 << 20;

std::filesystem::path config_path(const std::filesystem::path& directory) {
  return directory / "config.json";
}

std::filesystem::path model_path(const std::filesystem::path& directory) {
  return directory / "model.safetensors";
}

// Whatever is in the model file, under our names.
EntriesByName entries_by_our_names(const SafetensorsFile& file) {
  EntriesByName entries;
  for (const TensorEntry& entry : file.entries()) {
    std::string name = entry.name;
    if (name.starts_with(kPrefix)) name.erase(0, kPrefix.size());
    if (!entries.emplace(name, &entry).second)
      fail(ExitCode::bad_data, "{}: {} is there twice, with and without \"{}\"", file.path(),
           excerpt({name}), kPrefix);
  }
  return entries;
}

// Row by row: the table is the model's largest matrix.
bool have_equal_data(const SafetensorsFile& file, const TensorEntry& a, const TensorEntry& b) {
  if (a.type != b.type || a.shape != b.shape || a.shape.empty()) return false;
  const std::int64_t rows = a.bytes == 0 ? 0 : a.shape.front();  // a hostile file may have many
  std::vector<std::byte> row_a(static_cast<std::size_t>(rows == 0 ? 0 : a.bytes / rows));
  std::vector<std::byte> row_b(row_a.size());
  for (std::int64_t row = 0; row < rows; ++row) {
    file.read_rows(a, row, row + 1, row_a);
    file.read_rows(b, row, row + 1, row_b);
    if (row_a != row_b) return false;
  }
  return true;
}

// Removes what is no parameter: masks, and the output matrix where it is the token table.
void drop_buffers(EntriesByName& entries, const SafetensorsFile& file, std::int64_t L) {
  for (std::int64_t l = 0; l < L; ++l) {
    entries.erase(fmt::format("h.{}.attn.bias", l));
    entries.erase(fmt::format("h.{}.attn.masked_bias", l));
  }
  const auto output = entries.find(std::string(kOutputMatrix));
  const auto table = entries.find(std::string(kTokenTable));
  if (output == entries.end() || table == entries.end()) return;
  if (!have_equal_data(file, *output->second, *table->second))
    fail(ExitCode::bad_data, "{}: {} differs from {}; this model has one matrix for both",
         file.path(), kOutputMatrix, table->second->name);
  entries.erase(output);
}

}  // namespace

void export_gpt2(const std::filesystem::path& directory, const ModelSize& size,
                 std::span<const NamedTensor> tensors) {
  CHECK(!tensors.empty(), "a model without tensors");
  std::vector<NamedTensor> named;
  for (const auto& [name, value] : tensors) {
    CHECK(value.dtype() == tensors.front().value.dtype(), "{} is of another type than {}", name,
          tensors.front().name);
    named.push_back({std::string(kPrefix) + name, value});
  }
  const std::string config = gpt2_config(size, tensors.front().value.dtype());
  make_directory(directory);
  if (std::filesystem::exists(config_path(directory)) &&
      read_text(config_path(directory), kMaxConfigBytes) != config)
    fail(ExitCode::usage, "{} holds another model; export to another directory",
         directory.string());
  write_file_atomically(config_path(directory), config);
  write_tensors(model_path(directory), named, {{"format", "pt"}});  // transformers insists on it
}

void import_gpt2(const std::filesystem::path& directory, const ModelSize& size,
                 std::span<const NamedTensor> tensors) {
  const std::filesystem::path config = config_path(directory);
  check_gpt2_config(read_text(config, kMaxConfigBytes), config.string(), size);
  const SafetensorsFile file(model_path(directory));
  EntriesByName entries = entries_by_our_names(file);
  drop_buffers(entries, file, size.L);
  read_tensors(file, entries, tensors);
}

}  // namespace shardlings
