// What ninja prints, made short.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shardlings {

// "12/40" of "[12/40] Building CXX object ...".
std::optional<std::string_view> step_of(std::string_view line);

// The compiler's own words in the log of a failed build: without ninja's steps, and without the
// command line that follows each "FAILED:".
std::vector<std::string> messages_of(std::span<const std::string> log);

}  // namespace shardlings
