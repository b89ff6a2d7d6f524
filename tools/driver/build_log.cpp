#include "tools/driver/build_log.h"

namespace shardlings {

std::optional<std::string_view> step_of(std::string_view line) {
  const auto end = line.find("] ");
  if (!line.starts_with('[') || end == line.npos) return std::nullopt;
  const std::string_view step = line.substr(1, end - 1);
  if (step.find_first_not_of("0123456789/") != step.npos) return std::nullopt;
  return step;
}

std::vector<std::string> messages_of(std::span<const std::string> log) {
  std::vector<std::string> messages;
  bool command_line = false;
  for (const std::string& line : log) {
    const bool failed = line.starts_with("FAILED:");
    if (!failed && !command_line && !step_of(line) && !line.starts_with("ninja: build stopped"))
      messages.push_back(line);
    command_line = failed;
  }
  return messages;
}

}  // namespace shardlings
