#include "tools/slides/sources.h"

#include <fstream>
#include <iterator>

namespace shardlings {

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) fail(ExitCode::no_input, "{} cannot be read", path.string());
  return text;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return lines;
}

std::string replaced_all(std::string text, std::string_view old_part, std::string_view new_part) {
  for (std::size_t at = 0; (at = text.find(old_part, at)) != text.npos; at += new_part.size())
    text.replace(at, old_part.size(), new_part);
  return text;
}

}  // namespace shardlings
