// A hand budget: one formula per row, written by the learner before the lesson runs.
//
//   [let]                                    names of your own
//   P = "V*D + T*D + L*(12*D^2 + 13*D) + 2*D"
//   [memory]                                 bytes on this rank, each row at its own peak
//   parameters = "w * P"
//   optimizer  = "?"                         not written yet
//   [traffic]                                bytes this rank sends per optimizer step
//   "dp all_reduce gradients" = "2 * (n-1)/n * g * P"
//   [counts]                                 whatever else the lesson counts
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "budget/formula.h"

namespace shardlings {

inline constexpr std::array<std::string_view, 4> kSheetTables{"let", "memory", "traffic", "counts"};

// Both from 1; columns count characters.
struct Place {
  std::int64_t line = 1;
  std::int64_t column = 1;
  auto operator<=>(const Place&) const = default;
};

struct SheetRow {
  std::string table;
  std::string name;
  Place name_at;
  std::optional<Formula> formula;  // none: "?"
  Place formula_at;
};

struct Sheet {
  std::string file;  // as messages name it
  std::vector<SheetRow> rows;
};

// Rows in the order of the file. What names mean is seen when the sheet is evaluated.
// Errors: Error(no_input) with the system's reason; Error(bad_data) in one line with
// file:line:column, what was read and what is allowed.
Sheet read_sheet(const std::filesystem::path& path);
Sheet parse_sheet(std::string_view toml, std::string file);

// Throws that Error(bad_data): "budget.toml:4:12: what".
[[noreturn]] void refuse(const Sheet& sheet, const Place& place, const std::string& what);
// The same, for a place inside a row's formula.
[[noreturn]] void refuse(const Sheet& sheet, const SheetRow& row, const FormulaError& error);

}  // namespace shardlings
