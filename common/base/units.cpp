#include "base/units.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace shardlings {

namespace {

template <class Number>
Number parse_whole(std::string_view text, std::string_view what, const char* kind) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc{} || result.ptr != end)
    fail(ExitCode::usage, "{}: expected {}, got \"{}\"", what, kind, text);
  return value;
}

}  // namespace

std::string format_bytes(std::int64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  const char* unit = "";
  for (const char* next : {"KiB", "MiB", "GiB", "TiB", "PiB"}) {
    if (value < 1023.95) break;
    value /= 1024;
    unit = next;
  }
  return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, unit);
}

std::string format_count(std::int64_t count) {
  std::string digits = std::to_string(count);
  const std::int64_t first = count < 0 ? 1 : 0;
  for (auto i = static_cast<std::int64_t>(digits.size()) - 3; i > first; i -= 3)
    digits.insert(static_cast<std::size_t>(i), 1, ',');
  return digits;
}

std::string format_duration(double seconds) {
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::int64_t parse_bytes(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, double>, 9> kUnits{
      {{"KiB", 1024.0},
       {"MiB", 1048576.0},
       {"GiB", 1073741824.0},
       {"TiB", 1099511627776.0},
       {"kB", 1e3},
       {"MB", 1e6},
       {"GB", 1e9},
       {"TB", 1e12},
       {"B", 1.0}}};
  std::string_view number = text;
  double factor = 1;
  for (const auto& [unit, bytes] : kUnits) {
    if (!number.ends_with(unit)) continue;
    number.remove_suffix(unit.size());
    if (number.ends_with(' ')) number.remove_suffix(1);
    factor = bytes;
    break;
  }
  double value = 0;
  const char* end = number.data() + number.size();
  const auto result = std::from_chars(number.data(), end, value);
  const double bytes = value * factor;
  if (result.ec != std::errc{} || result.ptr != end || !(bytes >= 1) || bytes > 9e18)
    fail(ExitCode::usage, "expected a size such as 48MiB, 1.5GiB or 4096, got \"{}\"", text);
  return static_cast<std::int64_t>(bytes);
}

std::int64_t parse_integer(std::string_view text, std::string_view what) {
  return parse_whole<std::int64_t>(text, what, "a whole number");
}

double parse_number(std::string_view text, std::string_view what) {
  const double value = parse_whole<double>(text, what, "a number");
  if (!std::isfinite(value))
    fail(ExitCode::usage, "{}: expected a finite number, got \"{}\"", what, text);
  return value;
}

}  // namespace shardlings
