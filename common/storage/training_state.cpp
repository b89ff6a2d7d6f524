#include "storage/training_state.h"

#include <charconv>
#include <map>
#include <set>

#include "base/check.h"
#include "storage/json.h"

namespace shardlings {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBegin = "step_", kEnd = ".safetensors";
constexpr const char* kStep = "step";  // in the metadata, beside the settings
constexpr const char* kFormat = "format";
constexpr const char* kFormatName = "shardlings training state 1";
constexpr std::size_t kKept = 2;

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = error == std::errc() && end == text.data() + text.size() && value >= 0;
  return is_whole ? std::optional(value) : std::nullopt;
}

fs::path path_of(const fs::path& directory, std::int64_t step) {
  return directory / fmt::format("{}{:06}{}", kBegin, step, kEnd);
}

// The states in a directory by step; other files, those of a save that was cut off included, are
// not looked at.
std::map<std::int64_t, fs::path> states_in(const fs::path& directory) {
  std::map<std::int64_t, fs::path> states;
  std::error_code error;
  const fs::directory_iterator entries(directory, error);
  if (error && error != std::errc::no_such_file_or_directory)
    fail(ExitCode::io, "cannot read {}: {}", directory.string(), error.message());
  for (const fs::directory_entry& entry : entries) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(kBegin) || !name.ends_with(kEnd)) continue;
    const auto digits =
        std::string_view(name).substr(kBegin.size(), name.size() - kBegin.size() - kEnd.size());
    if (const auto step = number(digits)) states[*step] = entry.path();
  }
  return states;
}

Metadata metadata_of(const TrainingState& state) {
  Metadata metadata = state.settings;
  const bool is_free = metadata.emplace(kFormat, kFormatName).second &&
                       metadata.emplace(kStep, fmt::format("{}", state.step)).second;
  CHECK(is_free, "no setting may be called {} or {}", kStep, kFormat);
  return metadata;
}

// Every setting on which the two disagree.
std::string differences(const Metadata& in_file, const Metadata& in_run) {
  std::set<std::string> names;
  for (const Metadata* side : {&in_file, &in_run})
    for (const auto& [name, value] : *side) names.insert(name);
  const auto value_in = [](const Metadata& side, const std::string& name) {
    const auto found = side.find(name);
    return found == side.end() ? "not known" : excerpt({found->second});
  };
  std::string text;
  for (const std::string& name : names)
    if (const std::string a = value_in(in_file, name), b = value_in(in_run, name); a != b)
      text += fmt::format("{}{} is {} in the file and {} in this run", text.empty() ? "" : ", ",
                          excerpt({name}), a, b);
  return text;
}

void remove_file(const fs::path& path) {
  std::error_code error;
  fs::remove(path, error);
  if (error) fail(ExitCode::io, "cannot remove {}: {}", path.string(), error.message());
}

// Converted values would not go on bit for bit.
void check_types(const SafetensorsFile& file, const EntriesByName& entries,
                 const std::vector<NamedTensor>& tensors) {
  for (const auto& [name, value] : tensors)
    if (const auto found = entries.find(name);
        found != entries.end() && found->second->type != stored_type(value.dtype()))
      fail(ExitCode::bad_data, "{}: tensor {}: {} expected, got {}", file.path(), excerpt({name}),
           name_of(stored_type(value.dtype())), name_of(found->second->type));
}

}  // namespace

fs::path save_training_state(const fs::path& directory, const TrainingState& state) {
  CHECK(state.step >= 0, "step {}", state.step);
  make_directory(directory);
  const fs::path path = path_of(directory, state.step);
  write_tensors(path, state.tensors, metadata_of(state));

  std::map<std::int64_t, fs::path> states = states_in(directory);
  states.erase(states.upper_bound(state.step), states.end());
  for (; states.size() > kKept; states.erase(states.begin())) remove_file(states.begin()->second);
  return path;
}

fs::path load_training_state(const fs::path& path, TrainingState& state) {
  const bool is_directory = fs::is_directory(path);
  const std::optional<fs::path> newest = is_directory ? newest_training_state(path) : path;
  if (!newest) fail(ExitCode::no_input, "{} holds no {}NNNNNN{}", path.string(), kBegin, kEnd);
  const SafetensorsFile file(*newest);

  Metadata settings = file.metadata();
  const std::optional<std::int64_t> step = number(settings[kStep]);
  if (!step || settings[kFormat] != kFormatName)
    fail(ExitCode::bad_data, "{} is not the saved state of a run", file.path());
  settings.erase(kStep);
  settings.erase(kFormat);
  if (const std::string text = differences(settings, state.settings); !text.empty())
    fail(ExitCode::bad_data, "{} is of another run: {}", file.path(), text);

  EntriesByName entries;
  for (const TensorEntry& entry : file.entries()) entries[entry.name] = &entry;
  check_types(file, entries, state.tensors);
  read_tensors(file, entries, state.tensors);
  state.step = *step;
  return *newest;
}

std::optional<fs::path> newest_training_state(const fs::path& directory) {
  const std::map<std::int64_t, fs::path> states = states_in(directory);
  return states.empty() ? std::nullopt : std::optional(states.rbegin()->second);
}

void require_no_state_after(std::int64_t step, const fs::path& directory) {
  const std::map<std::int64_t, fs::path> states = states_in(directory);
  if (!states.empty() && states.rbegin()->first > step)
    fail(ExitCode::usage,
         "{} is of a later step than {}, where this run begins; resume it, or save elsewhere",
         states.rbegin()->second.string(), step);
}

}  // namespace shardlings
