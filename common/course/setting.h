// A value that a run was started with, by name: what a knob is set to, and what a report records.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>

namespace shardlings {

using Setting = std::variant<std::int64_t, double, std::string>;
using Settings = std::map<std::string, Setting>;

}  // namespace shardlings
