#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/units.h"
#include "budget/evaluate.h"
#include "budget/words.h"

namespace shardlings {

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kTitles{
    {{"let", "let: names of your own"},
     {"memory", "memory: bytes on this rank, each row at its own peak"},
     {"traffic", "traffic: bytes this rank sends per optimizer step"},
     {"counts", "counts"}}};

// "1.50 KiB" where the row is one of bytes.
std::string in_units(const BudgetRow& row) {
  const bool bytes = row.table == "memory" || row.table == "traffic";
  return bytes && *row.value < 0x1p63 ? format_bytes(std::llround(*row.value)) : "";
}

// Names and formulas are printable ASCII and tabs, for which {:?} writes what JSON does.
std::string json_of(const BudgetRow& row) {
  std::string terms;
  for (const Term& term : row.terms)
    terms += fmt::format("{}{{\"text\": {:?}, \"value\": {}}}", terms.empty() ? "" : ", ",
                         term.text, term.value);
  return fmt::format(
      "{{\"table\": {:?}, \"name\": {:?}, \"formula\": {:?}, \"value\": {}, \"waits_for\": {:?}, "
      "\"terms\": [{}]}}",
      row.table, row.name, row.formula, row.value ? fmt::format("{}", *row.value) : "null",
      row.waits_for, terms);
}

}  // namespace

std::string budget_text(const std::vector<BudgetRow>& rows) {
  std::size_t name_width = 0, amount_width = 0;
  for (const BudgetRow& row : rows) {
    name_width = std::max(name_width, row.name.size());
    if (row.value) amount_width = std::max(amount_width, format_amount(*row.value).size());
    for (const Term& term : row.terms)
      amount_width = std::max(amount_width, format_amount(term.value).size());
  }
  std::string text;
  const auto add_line = [&](std::string_view name, std::string_view amount, std::string_view units,
                            std::string_view formula) {
    fmt::format_to(std::back_inserter(text), "  {:<{}}  {:>{}}  {:>8}  {}\n", name, name_width,
                   amount, amount_width, units, formula);
  };
  for (const auto& [table, title] : kTitles) {
    if (std::ranges::find(rows, table, &BudgetRow::table) == rows.end()) continue;
    text += fmt::format("{}{}\n", text.empty() ? "" : "\n", title);
    for (const BudgetRow& row : rows) {
      if (row.table != table) continue;
      if (row.value)
        add_line(row.name, format_amount(*row.value), in_units(row), row.formula);
      else if (row.waits_for.empty())
        add_line(row.name, "?", "", "not written yet");
      else
        add_line(row.name, "?", "", fmt::format("{}  waits for {}", row.formula, row.waits_for));
      if (row.terms.size() < 2) continue;
      for (const Term& term : row.terms)
        add_line("", format_amount(term.value), "", "  " + term.text);
    }
  }
  return text;
}

std::string budget_json(const std::vector<BudgetRow>& rows) {
  std::string json;
  for (const BudgetRow& row : rows) json += (json.empty() ? "\n  " : ",\n  ") + json_of(row);
  return "{\"rows\": [" + json + "\n]}\n";
}

}  // namespace shardlings
