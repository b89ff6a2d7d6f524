#include "course/table.h"

#include <algorithm>

#include "base/check.h"
#include "course/text.h"

namespace shardlings {

namespace {

constexpr std::int64_t kGap = 2;         // spaces before each column
constexpr std::int64_t kNarrowest = 12;  // a text column is not wrapped below this

// The width of each column; 0 where it is left out.
std::vector<std::int64_t> column_widths(const Table& table, std::int64_t table_width) {
  std::vector<std::int64_t> widths(table.columns.size());
  for (std::size_t c = 0; c < widths.size(); ++c) {
    for (const auto& row : table.rows) widths[c] = std::max(widths[c], display_width(row[c]));
    if (widths[c] > 0) widths[c] = std::max(widths[c], display_width(table.columns[c].title));
  }
  std::int64_t total = 0;
  for (const std::int64_t width : widths) total += width > 0 ? width + kGap : 0;
  for (; total > table_width; --total) {
    std::int64_t* widest = nullptr;
    for (std::size_t c = 0; c < widths.size(); ++c)
      if (table.columns[c].is_text && (widest == nullptr || widths[c] > *widest))
        widest = &widths[c];
    if (widest == nullptr || *widest <= kNarrowest) break;
    --*widest;
  }
  return widths;
}

void append_row(std::string& text, const Table& table, const std::vector<std::string>& cells,
                const std::vector<std::int64_t>& widths) {
  std::vector<std::vector<std::string>> lines(cells.size());
  std::size_t height = 0;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (widths[c] == 0) continue;
    lines[c] = table.columns[c].is_text ? wrap(cells[c], widths[c]) : std::vector{cells[c]};
    height = std::max(height, lines[c].size());
  }
  for (std::size_t i = 0; i < height; ++i) {
    std::string line;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      if (widths[c] == 0) continue;
      const std::string part = i < lines[c].size() ? lines[c][i] : "";
      line.append(kGap, ' ');
      line += table.columns[c].is_text ? pad_right(part, widths[c]) : pad_left(part, widths[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
}

}  // namespace

std::string format_table(const Table& table, std::int64_t width) {
  if (table.rows.empty()) return "";
  for (const auto& row : table.rows)
    CHECK(row.size() == table.columns.size(), "a row has {} cells for {} columns", row.size(),
          table.columns.size());
  const std::vector<std::int64_t> widths = column_widths(table, width);
  std::vector<std::string> titles;
  for (const Column& column : table.columns) titles.push_back(column.title);
  std::string text;
  append_row(text, table, titles, widths);
  for (const auto& row : table.rows) append_row(text, table, row, widths);
  return text;
}

}  // namespace shardlings
