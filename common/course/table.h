// Tables for people: aligned, as wide as the terminal at most, readable without colour.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shardlings {

// Columns of text are on the left and wrap when the table would be too wide; numbers are on the
// right and never break. A column without a single cell is left out.
struct Column {
  std::string title;
  bool is_text = true;
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  // one cell per column
};

// Lines that end in '\n', indented by two; "" for a table without rows. Wider than `width` only
// where the numbers alone are.
std::string format_table(const Table& table, std::int64_t width);

}  // namespace shardlings
