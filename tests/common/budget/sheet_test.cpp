#include "budget/sheet.h"

#include <unistd.h>

#include <fstream>

#include "base/check.h"
#include "budget/evaluate.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

const Values kGiven{{"D", 8}, {"V", 11}, {"T", 6}, {"L", 2},
                    {"w", 4}, {"g", 4},  {"n", 1}, {"n_2", 2}};

// One line for the error of reading or evaluating `toml`; "" when there is none.
std::string problem(std::string_view toml) {
  try {
    evaluate(parse_sheet(toml, "b.toml"), kGiven);
    return "";
  } catch (const Error& error) {
    return error.code() == ExitCode::bad_data ? error.what() : "another exit code";
  }
}

std::vector<BudgetRow> rows(std::string_view toml) {
  return evaluate(parse_sheet(toml, "b.toml"), kGiven);
}

}  // namespace

TEST_CASE("a sheet keeps the order of its file and the places of its formulas") {
  const Sheet sheet = parse_sheet(
      "# mine\n[memory]\nparameters = \"w * P\"\n  gradients = '?'\n"
      "[let]\nP = \"V*D\"\n[traffic]\n\"dp all_reduce gradients\" = \"2*g*P\" # all\n[counts]\n",
      "b.toml");
  REQUIRE(sheet.rows.size() == 4);
  CHECK(sheet.rows[0].table == "memory");
  CHECK(sheet.rows[0].name == "parameters");
  CHECK(sheet.rows[0].formula->text() == "w * P");
  CHECK(sheet.rows[0].name_at == Place{3, 1});
  CHECK(sheet.rows[0].formula_at == Place{3, 15});
  CHECK(sheet.rows[1].name == "gradients");
  CHECK_FALSE(sheet.rows[1].formula);
  CHECK(sheet.rows[1].name_at == Place{4, 3});
  CHECK(sheet.rows[2].table == "let");
  CHECK(sheet.rows[3].name == "dp all_reduce gradients");
}

TEST_CASE("names of one's own may come in any order and lead to values and terms") {
  const auto budget = rows(
      "[let]\nP = \"V*D + blocks\"\nblocks = \"L*matrix\"\nmatrix = \"12*D^2\"\n"
      "[memory]\nparameters = \"w*P\"\n[counts]\nflops = \"6*P - V*D\"\n");
  REQUIRE(budget.size() == 5);
  CHECK(budget[0].value == 88 + 1536);
  CHECK(budget[0].terms[0].text == "V*D");
  CHECK(budget[0].terms[0].value == 88);
  CHECK(budget[0].terms[1].value == 1536);
  CHECK(budget[3].value == 4 * 1624);
  CHECK(budget[4].value == 6 * 1624 - 88);
  CHECK(budget[4].terms[1].value == -88);
}

TEST_CASE("what is not written yet is no error, nor is what waits for it") {
  const auto budget = rows(
      "[let]\nQ = \"2*P\"\nP = \"?\"\n[memory]\nparameters = \"w*Q\"\ngradients = \"?\"\n"
      "optimizer = \"8\"\n");
  CHECK_FALSE(budget[0].value);
  CHECK(budget[0].waits_for == "P");
  CHECK_FALSE(budget[1].value);
  CHECK(budget[1].waits_for.empty());
  CHECK(budget[1].formula == "?");
  CHECK_FALSE(budget[2].value);
  CHECK(budget[2].waits_for == "Q");
  CHECK_FALSE(budget[3].value);
  CHECK(budget[4].value == 8);
  CHECK(problem("[let]\nP = \"?\"\n[memory]\nparameters = \"w**P\"\n") ==
        "b.toml:4:17: parameters: \"*\" cannot stand here");
}

TEST_CASE("a byte-order mark, Windows line ends and an empty sheet are fine") {
  CHECK(rows("\xEF\xBB\xBF[memory]\r\nparameters = \"w\"\r\n").at(0).value == 4);
  CHECK(problem("\xEF\xBB\xBF[memory]\r\na = \"w +\"\r\n")
            .starts_with("b.toml:2:9: a: the formula ends"));
  CHECK(rows("").empty());
  CHECK(rows("memory = {parameters = \"w\"}").at(0).value == 4);
  CHECK(rows("memory.parameters = \"w\"").at(0).value == 4);
}

TEST_CASE("a malformed sheet is refused in one line with its place") {
  const std::string formula =
      ": expected a formula on one line in plain quotes, such as \"w * P\", or \"?\" while it is "
      "not "
      "written";
  const std::string here = "there are D, L, T, V, g, n, n_2, w";
  const std::string row = "; a row is written name = \"formula\"";
  const std::vector<std::pair<std::string, std::string>> cases{
      // TOML itself
      {"[memory]\na =\n",
       "2:4: Error while parsing key-value pair: expected value, saw '\\n'" + row},
      {"[memory]\na = w*P\n",
       "2:5: Error while parsing value: could not determine value type" + row},
      {"[memory\n", "1:8: Error while parsing table header: expected ']', saw '\\n'" + row},
      {"[memory]\na = \"w\"\na = \"g\"\n",
       "3:5: Error while parsing key-value pair: cannot redefine existing string 'a'" + row},
      {"[memory]\na = \"\xff\"\n", "2:5: Encountered invalid utf-8 sequence" + row},
      {"[memory]\na = n\n",
       "2:6: Error while parsing floating-point: expected 'nan', saw 'n '" + row},
      // tables
      {"[memroy]\na = \"w\"\n", "1:2: unknown table \"memroy\"; did you mean memory?"},
      {"[time]\n", "1:2: unknown table \"time\"; there are let, memory, traffic, counts"},
      {"a = \"w\"\n",
       "1:1: \"a\" stands outside the tables; there are let, memory, traffic, counts"},
      {"[[memory]]\na = \"w\"\n",
       "1:3: \"memory\" stands outside the tables; there are let, memory, traffic, counts"},
      // rows
      {"[memory]\na = 1000\n", "2:5: a" + formula},
      {"[memory]\na = -1\n", "2:5: a" + formula},
      {"[memory]\na = 1.5\n", "2:5: a" + formula},
      {"[memory]\na = nan\n", "2:5: a" + formula},
      {"[memory]\na = true\n", "2:5: a" + formula},
      {"[memory]\na = [\"w\"]\n", "2:5: a" + formula},
      {"[memory]\na.b = \"w\"\n", "2:1: a" + formula},
      {"[memory]\na = \"\\u0050\"\n", "2:5: a" + formula},
      {"[memory]\na = \"\"\"w\"\"\"\n", "2:5: a" + formula},
      {"[memory]\na = \"\"\"\\\n   w\"\"\"\n", "2:5: a" + formula},
      {"[memory]\na = '''w\n+ 1'''\n", "2:5: a" + formula},
      {"[memory]\n\"\" = \"w\"\n", "2:1: \"\" cannot be the name of a row"},
      {"[memory]\n\"a\\nb\" = \"w\"\n", "2:1: \"a\\nb\" cannot be the name of a row"},
      {"[let]\n\"P'\" = \"w\"\n",
       "2:1: expected a name of letters, digits and _ that is no function's, got \"P'\""},
      {"[let]\nmin = \"w\"\n",
       "2:1: expected a name of letters, digits and _ that is no function's, got \"min\""},
      {"[let]\nw = \"2\"\n", "2:1: w is given: remove this line, or rename what it defines"},
      // formulas: as well as what formula_test has
      {"[memory]\na = \"\"\n",
       "2:6: a: the formula is empty; \"?\" stands for one that is not written yet"},
      {"[memory]\na = \"w + 4 MiB\"\n", "2:12: a: an operator is missing before \"MiB\""},
      {"[memory]\na = \"2×w\"\n",
       "2:7: a: \"×\" has no place in a formula, which is made of numbers, names, + - * / ^ ( ) "
       "and "
       "ceil floor max min shard"},
      {"[memory]\na = \"2 ** w\"\n", "2:9: a: \"*\" cannot stand here"},
      {"[memory]\na = \"1,5 * w\"\n",
       "2:7: a: \",\" stands only between the values that a function takes; a formula is one "
       "value, "
       "and a decimal is written 1.5"},
      // values
      {"[memory]\na = \"w * d\"\n", "2:10: a: unknown name \"d\"; did you mean D?"},
      {"[memory]\na = \"n_1 * w\"\n", "2:6: a: unknown name \"n_1\"; did you mean n_2?"},
      {"[memory]\na = \"flor(w)\"\n", "2:6: a: unknown function \"flor\"; did you mean floor?"},
      {"[memory]\na = \"w*Q\"\n", "2:8: a: unknown name \"Q\"; " + here},
      {"[memory]\na = \"nan\"\n", "2:6: a: unknown name \"nan\"; " + here},
      {"[memory]\na = \"infinity\"\n", "2:6: a: unknown name \"infinity\"; " + here},
      {"[memory]\na = \"D/(n-1)\"\n", "2:6: a: \"D/(n-1)\" divides by zero where D = 8, n = 1"},
      {"[memory]\na = \"1/0\"\n", "2:6: a: \"1/0\" divides by zero"},
      {"[memory]\na = \"0/0\"\n", "2:6: a: \"0/0\" comes to no finite number"},
      {"[memory]\na = \"D - V\"\n",
       "2:6: a: \"D - V\" comes to -3, which is below zero, where D = 8, V = 11"},
      {"[let]\nP = \"Q\"\nQ = \"2*R\"\nR = \"1 + Q\"\n",
       "3:1: Q is defined through itself: Q -> R -> Q"},
      {"[let]\nP = \"P + 1\"\n", "2:1: P is defined through itself: P -> P"},
  };
  for (const auto& [toml, what] : cases) {
    INFO(toml);
    CHECK(problem(toml) == "b.toml:" + what);
  }
}

TEST_CASE("whatever is cut or changed in a sheet, the answer is one line or a budget") {
  const std::string good =
      "[let]\nP = \"V*D + T*D\"\n[memory]\nparameters = \"w * P\"\n[traffic]\n\"dp all_reduce "
      "gradients\" = \"2*(n-1)/n * shard(P, 2, 1)\"\n[counts]\n\"a b\" = '?'\n";
  const std::string bytes("\0\n\"\\#(,=?[. 9\xff", 14);
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::vector<std::string> sheets{good.substr(0, i), good.substr(i),
                                    std::string(good).erase(i, 1)};
    for (const char byte : bytes) {
      sheets.push_back(good);
      sheets.back()[i] = byte;
      sheets.push_back(std::string(good).insert(i, 1, byte));
    }
    for (const std::string& sheet : sheets) {
      const std::string what = problem(sheet);
      INFO(sheet);
      REQUIRE((what.empty() || what.starts_with("b.toml:")));
      REQUIRE(what.find_first_of(std::string("\n\r\0", 3)) == std::string::npos);
    }
  }
  CHECK(problem("[memory]\na = \"" + std::string(20000, '1') + "\"").starts_with("b.toml:2:"));
  CHECK(problem("[memory]\na = \"" + std::string(500, 'x') + "\"").starts_with("b.toml:2:"));
  CHECK(problem("[memory]\na = \"" + std::string(20000, '(') + "\"").starts_with("b.toml:2:"));
  CHECK(problem("a = " + std::string(20000, '[')).starts_with("b.toml:1:"));
}

TEST_CASE("a sheet is read from a file, and one that cannot be read is named") {
  namespace fs = std::filesystem;
  const fs::path directory = fs::temp_directory_path() / fmt::format("budget_{}", ::getpid());
  fs::create_directories(directory);
  const fs::path path = directory / "budget.toml";
  std::ofstream(path) << "[memory]\nparameters = \"w*\"\n";
  const auto failure = [](const fs::path& file) -> std::pair<ExitCode, std::string> {
    try {
      read_sheet(file);
      return {ExitCode::ok, ""};
    } catch (const Error& error) {
      return {error.code(), error.what()};
    }
  };
  CHECK(failure(path).first == ExitCode::bad_data);
  CHECK(failure(path).second.starts_with(path.string() + ":2:"));
  std::ofstream(path) << "[memory]\nparameters = \"w\"\n";
  CHECK(read_sheet(path).rows.size() == 1);
  std::ofstream(path, std::ios::trunc).flush();
  CHECK(read_sheet(path).rows.empty());
  CHECK(failure(directory) ==
        std::pair(ExitCode::no_input, "cannot read " + directory.string() + ": Is a directory"));
  CHECK(failure(directory / "absent") ==
        std::pair(ExitCode::no_input, "cannot read " + (directory / "absent").string() +
                                          ": No such file or directory"));
  fs::remove_all(directory);
}
