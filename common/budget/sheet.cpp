#include "budget/sheet.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/check.h"
#include "budget/words.h"

namespace shardlings {

namespace {

Place place_of(const toml::source_region& source) {
  return {source.begin.line, source.begin.column};
}

std::int64_t characters(std::string_view utf8) {
  return std::ranges::count_if(
      utf8, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

// The text of a plain string: one whose characters in the file are its own, so that a place in the
// formula is a place in the file. None for anything else: "\u0050", three quotes, a number.
std::optional<std::string> plain_text(const toml::node& node) {
  const auto text = node.value_exact<std::string>();
  const auto& [begin, end, path] = node.source();
  const bool plain = text && begin.line == end.line &&
                     static_cast<std::int64_t>(end.column - begin.column) == characters(*text) + 2;
  return plain ? text : std::nullopt;
}

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

void read_row(Sheet& sheet, std::string_view table, const toml::key& key, const toml::node& node) {
  SheetRow row{.table = std::string(table),
               .name = std::string(key.str()),
               .name_at = place_of(key.source()),
               .formula = {},
               .formula_at = place_of(node.source())};
  if (table == "let" && !can_be_name(row.name))
    refuse(sheet, row.name_at,
           fmt::format("expected a name of letters, digits and _ that is no function's, got {:?}",
                       row.name));
  if (row.name.empty() || !is_printable(row.name))
    refuse(sheet, row.name_at, fmt::format("{:?} cannot be the name of a row", row.name));
  const auto text = plain_text(node);
  if (!text)
    refuse(sheet, row.formula_at,
           fmt::format("{}: expected a formula on one line in plain quotes, such as \"w * P\", or "
                       "\"?\" while it is not written",
                       row.name));
  ++row.formula_at.column;  // behind the quote
  try {
    if (*text != "?") row.formula.emplace(*text);
  } catch (const FormulaError& error) {
    refuse(sheet, row, error);
  }
  sheet.rows.push_back(std::move(row));
}

}  // namespace

void refuse(const Sheet& sheet, const Place& place, const std::string& what) {
  fail(ExitCode::bad_data, "{}:{}:{}: {}", sheet.file, place.line, place.column, what);
}

void refuse(const Sheet& sheet, const SheetRow& row, const FormulaError& error) {
  // A byte is a column: formulas are refused at their first character outside ASCII.
  Place place = row.formula_at;
  place.column += static_cast<std::int64_t>(error.position);
  refuse(sheet, place, fmt::format("{}: {}", row.name, error.what));
}

Sheet parse_sheet(std::string_view text, std::string file) {
  Sheet sheet{.file = std::move(file), .rows = {}};
  toml::table document;
  try {
    document = toml::parse(text);
  } catch (const toml::parse_error& error) {
    std::string what(error.description());
    // It may quote the file, line ends and all.
    std::ranges::replace_if(
        what, [](unsigned char c) { return c < ' '; }, ' ');
    refuse(sheet, place_of(error.source()), what + "; a row is written name = \"formula\"");
  }
  for (const auto& [key, node] : document) {
    const toml::table* table = node.as_table();
    if (table == nullptr)
      refuse(sheet, place_of(key.source()),
             fmt::format("{:?} stands outside the tables; there are {}", key.str(),
                         fmt::join(kSheetTables, ", ")));
    if (std::ranges::find(kSheetTables, key.str()) == kSheetTables.end())
      refuse(sheet, place_of(key.source()),
             fmt::format("unknown table {:?}; {}", key.str(), instead_of(key.str(), kSheetTables)));
    for (const auto& [name, formula] : *table) read_row(sheet, key.str(), name, formula);
  }
  std::ranges::sort(sheet.rows, {}, &SheetRow::name_at);  // toml++ sorts by name
  return sheet;
}

Sheet read_sheet(const std::filesystem::path& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  // A directory opens, and cannot be read; an empty file fails as well, but for no reason.
  if (!file.is_open() || (text.fail() && errno != 0))
    fail(ExitCode::no_input, "cannot read {}: {}", path.string(), std::strerror(errno));
  return parse_sheet(text.str(), path.string());
}

}  // namespace shardlings
