// A hand budget evaluated for any model, without running it:
//
//   budget SHEET [--model gpt3-175b] [--policy bf16] [--json] [--LETTER NUMBER]...
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/suggest.h"
#include "base/units.h"
#include "budget/evaluate.h"
#include "budget/letters.h"

namespace shardlings {

namespace {

struct Request {
  std::string sheet;
  std::string model = "nano";
  std::string policy = "f32";
  bool json = false;
  std::vector<std::pair<std::string, double>> letters;  // set by --LETTER NUMBER
};

Request read_request(const std::vector<std::string>& words) {
  if (words.empty()) fail(ExitCode::usage, "budget needs a sheet");
  Request request;
  request.sheet = words[0];
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& option = words[i];
    if (!option.starts_with("--"))
      fail(ExitCode::usage, "{} is not an option; for example: --model gpt3-175b", option);
    if (option == "--json") {
      request.json = true;
      continue;
    }
    if (i + 1 == words.size()) fail(ExitCode::usage, "{}: a value is missing", option);
    const std::string& value = words[++i];
    if (option == "--model")
      request.model = value;
    else if (option == "--policy")
      request.policy = value;
    else
      request.letters.emplace_back(option.substr(2), parse_number(value, option));
  }
  return request;
}

// A lesson's knobs are letters that its sheet alone knows.
bool uses(const Sheet& sheet, const std::string& letter) {
  return std::ranges::any_of(sheet.rows, [&](const SheetRow& row) {
    return row.formula && std::ranges::any_of(row.formula->names(), [&](const auto& name) {
             return name.text == letter;
           });
  });
}

// All letters of the model, with what the command line changes. A letter that the sheet finds
// itself (P in lesson 01) is not given.
Values values_for(const Request& request, const Sheet& sheet) {
  const auto size_of = [&](const std::string& letter, std::int64_t otherwise) {
    for (const auto& [name, value] : request.letters)
      if (name == letter) return static_cast<std::int64_t>(value);
    return otherwise;
  };
  ModelSize size = model_named(request.model);
  size = {.L = size_of("L", size.L),
          .D = size_of("D", size.D),
          .H = size_of("H", size.H),
          .T = size_of("T", size.T),
          .V = size_of("V", size.V)};
  if (const std::vector<std::string> rules = violated_rules(size); !rules.empty())
    fail(ExitCode::usage, "{}", rules.front());
  if (size_of("B", 1) < 1) fail(ExitCode::usage, "--B: at least 1 sequence expected");
  Values values = letters(size, size_of("B", 1), request.policy);
  for (const auto& [name, value] : request.letters) {
    if (!values.contains(name) && !uses(sheet, name)) {
      std::vector<std::string_view> known;
      for (const auto& [letter, unused] : values) known.push_back(letter);
      const std::string likely = nearest(name, known);
      fail(ExitCode::usage, "--{}: no formula of {} has this letter{}", name,
           std::filesystem::proximate(sheet.file).string(),
           likely.empty() ? "" : "; did you mean --" + likely + "?");
    }
    values[name] = value;
  }
  for (const SheetRow& row : sheet.rows)
    if (row.table == "let") values.erase(row.name);
  return values;
}

// A run gives a lesson's knobs their values; here the command line must.
void require_all_letters(const Sheet& sheet, const Values& values) {
  std::set<std::string> missing;
  for (const SheetRow& row : sheet.rows)
    if (row.formula)
      for (const Formula::Name& name : row.formula->names())
        if (!values.contains(name.text)) missing.insert(name.text);
  for (const SheetRow& row : sheet.rows)
    if (row.table == "let") missing.erase(row.name);
  if (missing.empty()) return;
  fail(ExitCode::usage,
       "{} uses {}, without a value here: --{} NUMBER gives one to an option of the lesson; any "
       "other name is misspelt",
       std::filesystem::proximate(sheet.file).string(), fmt::join(missing, ", "), *missing.begin());
}

int show(const std::vector<std::string>& words) {
  const Request request = read_request(words);
  const Sheet sheet = read_sheet(request.sheet);
  const Values values = values_for(request, sheet);
  require_all_letters(sheet, values);
  const std::vector<BudgetRow> rows = evaluate(sheet, values);
  fmt::print("{}", request.json ? budget_json(rows) : budget_text(rows));
  return 0;
}

}  // namespace

}  // namespace shardlings

int main(int count, char** words) {
  try {
    return shardlings::show({words + 1, words + count});
  } catch (const shardlings::Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return static_cast<int>(error.code());
  }
}
