#include "budget/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/check.h"
#include "budget/words.h"

namespace shardlings {

namespace {

using Names = std::set<std::string>;

struct Known {
  Values values;    // given, and defined in [let]
  Names unwritten;  // defined in [let] as "?", or through such a name
};

// The first name in `formula` that is one of `names`; "" when there is none.
std::string first_of(const Names& names, const Formula& formula) {
  for (const Formula::Name& name : formula.names())
    if (names.contains(name.text)) return name.text;
  return "";
}

void check_names(const Sheet& sheet, const Values& given) {
  Names names;
  for (const auto& [name, value] : given) names.insert(name);
  for (const SheetRow& row : sheet.rows)
    if (row.table == "let" && !names.insert(row.name).second)
      refuse(sheet, row.name_at,
             row.name + " is given: remove this line, or rename what it defines");

  const std::vector<std::string_view> candidates(names.begin(), names.end());
  for (const SheetRow& row : sheet.rows) {
    if (!row.formula) continue;
    for (const auto& [name, position] : row.formula->names())
      if (!names.contains(name))
        refuse(
            sheet, row,
            {position, fmt::format("unknown name {:?}; {}", name, instead_of(name, candidates))});
  }
}

double value_of(const Sheet& sheet, const SheetRow& row, const Values& values) {
  try {
    const double value = row.formula->value(values);
    if (value >= 0 || row.table == "let") return value;
    throw FormulaError{0, fmt::format("comes to {}, which is below zero,", format_amount(value))};
  } catch (const FormulaError& error) {
    Names used;
    for (const Formula::Name& name : row.formula->names())
      used.insert(fmt::format("{} = {}", name.text, format_amount(values.at(name.text))));
    refuse(sheet, row,
           {error.position,
            fmt::format("{:?} {}{}", row.formula->text(), error.what,
                        used.empty() ? "" : fmt::format(" where {}", fmt::join(used, ", ")))});
  }
}

// Requires: each of `rows` uses another of them, so that going from one to the next ends in a
// circle.
[[noreturn]] void refuse_circle(const Sheet& sheet, const std::vector<const SheetRow*>& rows) {
  Names names;
  for (const SheetRow* row : rows) names.insert(row->name);
  std::vector<std::string> path;
  const SheetRow* row = rows.front();
  while (std::ranges::find(path, row->name) == path.end()) {
    path.push_back(row->name);
    row = *std::ranges::find(rows, first_of(names, *row->formula), &SheetRow::name);
  }
  path.erase(path.begin(), std::ranges::find(path, row->name));
  refuse(
      sheet, row->name_at,
      fmt::format("{0} is defined through itself: {1} -> {0}", row->name, fmt::join(path, " -> ")));
}

Known evaluate_lets(const Sheet& sheet, const Values& given) {
  Known known{given, {}};
  std::vector<const SheetRow*> open;
  for (const SheetRow& row : sheet.rows) {
    if (row.table != "let") continue;
    if (row.formula)
      open.push_back(&row);
    else
      known.unwritten.insert(row.name);
  }
  while (!open.empty()) {
    const auto closed = std::erase_if(open, [&](const SheetRow* row) {
      if (!first_of(known.unwritten, *row->formula).empty()) {
        known.unwritten.insert(row->name);
        return true;
      }
      const bool ready = std::ranges::all_of(row->formula->names(), [&](const Formula::Name& name) {
        return known.values.contains(name.text);
      });
      if (ready) known.values[row->name] = value_of(sheet, *row, known.values);
      return ready;
    });
    if (closed == 0) refuse_circle(sheet, open);
  }
  return known;
}

}  // namespace

std::vector<BudgetRow> evaluate(const Sheet& sheet, const Values& given) {
  check_names(sheet, given);
  const Known known = evaluate_lets(sheet, given);
  std::vector<BudgetRow> rows;
  for (const SheetRow& row : sheet.rows) {
    BudgetRow budget{.table = row.table,
                     .name = row.name,
                     .formula = row.formula ? row.formula->text() : "?",
                     .value = {},
                     .waits_for = row.formula ? first_of(known.unwritten, *row.formula) : "",
                     .terms = {}};
    if (row.formula && budget.waits_for.empty()) {
      budget.value = value_of(sheet, row, known.values);
      budget.terms = row.formula->terms(known.values);
    }
    rows.push_back(std::move(budget));
  }
  return rows;
}

}  // namespace shardlings
