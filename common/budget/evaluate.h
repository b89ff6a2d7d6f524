// What a sheet comes to, once its letters have values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "budget/sheet.h"

namespace shardlings {

struct BudgetRow {
  std::string table;
  std::string name;
  std::string formula;          // "?" while it is not written
  std::optional<double> value;  // none while the formula, or a name it uses, is not written
  std::string waits_for;        // that name
  std::vector<Term> terms;      // the summands of the formula, which add up to the value
};

// The sheet's rows, in its order. [let] may define names in any order, but none that is given: a
// sheet cannot change what D or w is.
// Errors: Error(bad_data) with file:line:column and the row: a name that is unknown (shows the
// nearest), given already, or defined through itself; a division by zero; no finite number; outside
// [let], a negative one.
std::vector<BudgetRow> evaluate(const Sheet& sheet, const Values& given);

// For people, and for --json. Amounts of [memory] and [traffic] are bytes.
std::string budget_text(const std::vector<BudgetRow>& rows);
std::string budget_json(const std::vector<BudgetRow>& rows);

}  // namespace shardlings
