// Where a program's words go: how wide they may be, whether in colour, and what a failed write
// means.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace shardlings {

struct TextStyle {
  std::int64_t width = 80;  // columns, at most 100: longer lines are hard to read
  bool terminal = false;    // a line can be rewritten
  bool colour = false;
};

// Of a terminal: COLUMNS, else its own width; no colour when NO_COLOR is set. Of a file or a pipe:
// COLUMNS, else 80; never colour.
TextStyle style_of(std::FILE* out);

enum class Colour { bold = 1, red = 31, green = 32 };

// `text` in that colour, or unchanged when `style` has none.
std::string painted(const TextStyle& style, Colour colour, std::string_view text);

// Writes all of `text` and flushes. When nobody reads the other end any more (head, less), asks the
// program to stop and says nothing. Errors: Error(io) with the system's reason.
void write_text(std::FILE* out, std::string_view text);

}  // namespace shardlings
