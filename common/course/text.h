// Text in columns of a terminal. Widths are columns, not bytes: "·" is two bytes and one column.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shardlings {

// Columns that `text` (UTF-8) takes: combining marks and colour sequences none, CJK and emoji two.
std::int64_t display_width(std::string_view text);

// The longest beginning of `text` that fits into `width` columns.
std::string_view prefix_of_width(std::string_view text, std::int64_t width);

// `text` with spaces up to `width` columns.
std::string pad_left(std::string_view text, std::int64_t width);
std::string pad_right(std::string_view text, std::int64_t width);

// Lines of at most `width` columns, broken at spaces; a longer word is broken where it must be.
// At least one line. Requires: width >= 2.
std::vector<std::string> wrap(std::string_view text, std::int64_t width);

}  // namespace shardlings
