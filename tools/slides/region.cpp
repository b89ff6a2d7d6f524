#include "tools/slides/region.h"

#include <algorithm>
#include <optional>

#include "tools/slides/sources.h"

namespace shardlings {

namespace {

// What stands between the brackets of a marker line, "slide train_step" or "end slide"; "" for any
// other line.
std::string_view marker_in(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(' ');
  if (begin == line.npos) return "";
  line.remove_prefix(begin);
  for (const std::string_view comment : {"// [", "# ["})
    if (line.starts_with(comment) && line.ends_with(']'))
      return line.substr(comment.size(), line.size() - comment.size() - 1);
  return "";
}

std::string without_indentation(const std::vector<std::string>& lines) {
  std::size_t indentation = std::string::npos;
  for (const std::string& line : lines)
    indentation = std::min(indentation, line.find_first_not_of(' '));
  std::string text;
  for (const std::string& line : lines)
    text += line.substr(std::min(indentation, line.size())) + '\n';
  return text;
}

}  // namespace

std::string region_of(std::string_view source, std::string_view name) {
  constexpr std::string_view kBegin = "slide ", kEnd = "end slide";
  std::optional<std::vector<std::string>> region;
  std::string others;
  for (const std::string& line : lines_of(source)) {
    const std::string_view marker = marker_in(line);
    if (region && marker == kEnd) {
      if (region->empty()) fail(ExitCode::bad_data, "region \"{}\" is empty", name);
      return without_indentation(*region);
    }
    if (region && marker.starts_with(kBegin)) break;
    if (region) {
      region->push_back(line);
    } else if (marker.starts_with(kBegin)) {
      const std::string_view found = marker.substr(kBegin.size());
      if (found == name) region.emplace();
      others += (others.empty() ? "" : ", ") + std::string(found);
    }
  }
  if (region) fail(ExitCode::bad_data, "region \"{}\" has no line \"[end slide]\"", name);
  fail(ExitCode::bad_data, "there is no line \"// [slide {}]\"; regions there: {}", name,
       others.empty() ? "none" : others);
}

}  // namespace shardlings
