#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/check.h"
#include "budget/verdict.h"
#include "budget/words.h"

namespace shardlings {

namespace {

using Key = std::pair<std::string, std::string>;  // {table, row}

[[noreturn]] void refuse_row(const Sheet& sheet, const SheetRow& row,
                             const std::set<Key>& measured) {
  std::vector<std::string_view> names;
  for (const auto& [table, name] : measured)
    if (table == row.table) names.push_back(name);
  refuse(sheet, row.name_at,
         fmt::format("no row {:?} of [{}] is measured; {}", row.name, row.table,
                     instead_of(row.name, names)));
}

}  // namespace

std::vector<JudgedRow> judge(const Sheet& sheet, std::span<const Configuration> configurations) {
  CHECK(!configurations.empty(), "a sheet is judged in at least one configuration");
  std::set<Key> unseen;                         // measured, and not in the sheet so far
  std::vector<std::vector<BudgetRow>> budgets;  // [configuration][row of the sheet]
  for (const Configuration& configuration : configurations) {
    budgets.push_back(evaluate(sheet, configuration.letters));
    for (const auto& [key, value] : configuration.measured) unseen.insert(key);
  }
  const std::set<Key> measured = unseen;

  std::vector<JudgedRow> judged;
  for (std::size_t i = 0; i < sheet.rows.size(); ++i) {
    const BudgetRow& row = budgets.front()[i];
    const Key key{row.table, row.name};
    if (unseen.erase(key) == 0) {
      if (row.table != "let") refuse_row(sheet, sheet.rows[i], measured);
      continue;
    }
    judged.push_back({.table = row.table, .name = row.name, .formula = row.formula});
    if (!row.value) continue;
    std::vector<Comparison> runs;
    for (std::size_t c = 0; c < configurations.size(); ++c) {
      const auto found = configurations[c].measured.find(key);
      runs.push_back({.value = *budgets[c][i].value,
                      .measured = found == configurations[c].measured.end() ? 0 : found->second,
                      .letters = configurations[c].letters,
                      .terms = budgets[c][i].terms});
    }
    const Verdict verdict = compare(runs);
    judged.back().verdict = verdict.text;
    judged.back().hint = verdict.hint;
    if (verdict.text != "exact") judged.back().configuration = configurations[verdict.where].name;
  }
  for (const auto& [table, name] : unseen)
    judged.push_back({.table = table, .name = name, .formula = "?"});
  return judged;
}

}  // namespace shardlings
