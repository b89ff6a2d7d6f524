#include "course/text.h"

#include <algorithm>
#include <array>

namespace shardlings {

namespace {

// One character of UTF-8 text: its code point (a stray byte counts as one) and its bytes.
struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
};

Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = byte(0) < 0xc0 ? 1 : byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : 4;
  if (length == 1 || length > text.size()) return {byte(0), 1};
  std::uint32_t code = byte(0) & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {byte(0), 1};
    code = code << 6 | (byte(i) & 0x3f);
  }
  return {code, length};
}

struct Range {
  std::uint32_t first, last;
};

// The ranges that texts meet in practice, out of Unicode's East Asian Width.
constexpr std::array<Range, 2> kNoColumn{{{0x0300, 0x036f}, {0x200b, 0x200f}}};
constexpr std::array<Range, 8> kTwoColumns{{{0x1100, 0x115f},
                                            {0x2e80, 0xa4cf},
                                            {0xac00, 0xd7a3},
                                            {0xf900, 0xfaff},
                                            {0xfe30, 0xfe6f},
                                            {0xff00, 0xff60},
                                            {0x1f300, 0x1faff},
                                            {0x20000, 0x3fffd}}};

std::int64_t columns_of(std::uint32_t code) {
  const auto holds = [&](const Range& range) { return range.first <= code && code <= range.last; };
  if (std::ranges::any_of(kNoColumn, holds)) return 0;
  return std::ranges::any_of(kTwoColumns, holds) ? 2 : 1;
}

// Bytes of the colour sequence "\x1b[...m" at the start of `text`; 0 when there is none.
std::size_t colour_bytes(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const std::size_t end = text.find('m');
  return end == std::string_view::npos ? 0 : end + 1;
}

}  // namespace

std::string_view prefix_of_width(std::string_view text, std::int64_t width) {
  std::size_t taken = 0;
  while (taken < text.size()) {
    const std::string_view rest = text.substr(taken);
    if (const std::size_t colour = colour_bytes(rest)) {
      taken += colour;
      continue;
    }
    const Character next = first_character(rest);
    width -= columns_of(next.code);
    if (width < 0) break;
    taken += next.bytes;
  }
  return text.substr(0, taken);
}

std::int64_t display_width(std::string_view text) {
  std::int64_t width = 0;
  while (!text.empty()) {
    const std::size_t colour = colour_bytes(text);
    const Character next = first_character(text);
    if (colour == 0) width += columns_of(next.code);
    text.remove_prefix(colour > 0 ? colour : next.bytes);
  }
  return width;
}

std::string pad_left(std::string_view text, std::int64_t width) {
  const std::int64_t missing = std::max<std::int64_t>(0, width - display_width(text));
  return std::string(static_cast<std::size_t>(missing), ' ').append(text);
}

std::string pad_right(std::string_view text, std::int64_t width) {
  const std::int64_t missing = std::max<std::int64_t>(0, width - display_width(text));
  return std::string(text).append(static_cast<std::size_t>(missing), ' ');
}

std::vector<std::string> wrap(std::string_view text, std::int64_t width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (!lines.back().empty()) {
      if (display_width(lines.back()) + 1 + display_width(word) <= width) {
        lines.back().append(" ").append(word);
        continue;
      }
      lines.emplace_back();
    }
    while (display_width(word) > width) {
      const std::string_view part = prefix_of_width(word, width);
      lines.back() = part;
      lines.emplace_back();
      word.remove_prefix(part.size());
    }
    lines.back() = word;
  }
  return lines;
}

}  // namespace shardlings
