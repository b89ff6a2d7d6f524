#include "budget/formula.h"

#include <fmt/core.h>

#include <clocale>
#include <locale>

#include "tests/support/catch.h"

using namespace shardlings;

namespace {

const Values kValues{{"P", 836224}, {"n", 4}, {"r", 3}, {"zero", 0}};

double value(const std::string& text) {
  return Formula(text).value(kValues);
}

// "position: what", of the error in writing or evaluating it; "" when there is none.
std::string problem(const std::string& text) {
  try {
    Formula(text).value(kValues);
    return "";
  } catch (const FormulaError& error) {
    return fmt::format("{}: {}", error.position, error.what);
  }
}

// The sizes of all n shards of N: "4 4 2".
std::string shards(std::int64_t N, std::int64_t n) {
  std::string sizes;
  for (std::int64_t r = 0; r < n; ++r)
    sizes +=
        fmt::format("{}{}", r == 0 ? "" : " ", value(fmt::format("shard({}, {}, {})", N, n, r)));
  return sizes;
}

}  // namespace

TEST_CASE("a formula is arithmetic with the usual precedence") {
  CHECK(value("2 * (n-1)/n * P") == 1254336);
  CHECK(value("2+3*4^2") == 50);
  CHECK(value("2^3^2") == 512);
  CHECK(value("-2^2 + 10") == 6);
  CHECK(value("2^-1 + 2*-n + 10") == 2.5);
  CHECK(value(" 1e3 +\t.5 + 2.") == 1002.5);
  CHECK(value("floor(7/2) + ceil(7/2) + min(n, 9) + max(1, 2, 3)") == 14);
  CHECK(value("P*P*12884") == 836224.0 * 836224.0 * 12884.0);
  CHECK(value("9007199254740991 + 1") == 0x1p53);
}

TEST_CASE("shard gives ceil(N/n) each, while they last") {
  CHECK(shards(10, 3) == "4 4 2");
  CHECK(shards(10, 4) == "3 3 3 1");
  CHECK(shards(3, 4) == "1 1 1 0");
  CHECK(shards(5, 4) == "2 2 1 0");
  CHECK(shards(0, 2) == "0 0");
  CHECK(shards(12, 4) == "3 3 3 3");
}

TEST_CASE("a formula that is not one value says where and why") {
  const std::string nowhere =
      "has no place in a formula, which is made of numbers, names, "
      "+ - * / ^ ( ) and ceil floor max min shard";
  const std::string comma =
      "\",\" stands only between the values that a function takes; a formula is one value, and a "
      "decimal is written 1.5";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "0: the formula is empty; \"?\" stands for one that is not written yet"},
      {"  ", "0: the formula is empty; \"?\" stands for one that is not written yet"},
      {"n = 3", "2: \"=\" " + nowhere},
      {"n == 3", "2: \"=\" " + nowhere},
      {"n < 3", "2: \"<\" " + nowhere},
      {"n ? 1 : 2", "2: \"?\" " + nowhere},
      {"n && 1", "2: \"&\" " + nowhere},
      {"'n'", "0: \"'\" " + nowhere},
      {"n % 3", "2: \"%\" " + nowhere},
      {"2×n", "1: \"×\" " + nowhere},
      {"1,5", "1: " + comma},
      {"2, n", "1: " + comma},
      {"(1, n)", "2: " + comma},
      {"min((1, n), 2)", "6: " + comma},
      {"2n", "1: an operator is missing before \"n\""},
      {"2 (n)", "2: an operator is missing before \"(\""},
      {"n(r)", "1: an operator is missing before \"(\""},
      {"exp(n)", "3: an operator is missing before \"(\""},
      {"(n)(r)", "3: an operator is missing before \"(\""},
      {"0x10", "1: an operator is missing before \"x10\""},
      {"1.2.3", "3: an operator is missing before \".3\""},
      {"2**n", "2: \"*\" cannot stand here"},
      {"*n", "0: \"*\" cannot stand here"},
      {"n)", "1: \")\" cannot stand here"},
      {"()", "1: \")\" cannot stand here"},
      {"2 * flor (n)", "4: unknown function \"flor\"; did you mean floor?"},
      {"ceil", "0: \"ceil\" cannot stand here"},
      {"min(1,,2)", "6: \",\" cannot stand here"},
      {"2 * (n + (r)", "4: \"(\" is never closed"},
      {".", "0: \".\" stands only inside a number"},
      {"1e400", "0: 1e400 is beyond what a double can hold"},
      {"zero + P/zero", "0: divides by zero"},
      {"min(1/zero, 5)", "0: divides by zero"},
      {"1/(1/zero)", "0: divides by zero"},
      {"zero/zero", "0: comes to no finite number"},
      {"1e300 * 1e300", "0: comes to no finite number"},
      {"1/(1e300 * 1e300)", "0: comes to no finite number"},
      {"(-2)^0.5", "0: comes to no finite number"},
      {"shard(10, 4, 4)", "0: comes to no finite number"},
      {"shard(10, zero, zero)", "0: comes to no finite number"},
      {"shard(10.5, 2, 0)", "0: comes to no finite number"},
  };
  for (const auto& [text, what] : cases) {
    INFO(text);
    CHECK(problem(text) == what);
  }
  CHECK(problem("2 * n -") == "7: the formula ends where a value is expected");
  CHECK(problem("shard(n, 2)").ends_with(": shard takes more values than this"));
  CHECK(problem("ceil(1,5)").ends_with(": ceil takes fewer values than this"));
}

TEST_CASE("names are found where they stand, without functions") {
  const Formula formula("max(P, 2*n) + P_2");
  std::string names;
  for (const auto& [name, position] : formula.names())
    names += fmt::format("{}@{} ", name, position);
  CHECK(names == "P@4 n@9 P_2@14 ");
  CHECK(can_be_name("P_2"));
  for (const char* name : {"", "2P", "a-b", "a b", "min", "é"}) CHECK_FALSE(can_be_name(name));
}

TEST_CASE("terms are the summands outside brackets, and add up") {
  const auto terms = [](const std::string& text) {
    std::string all;
    for (const Term& term : Formula(text).terms(kValues))
      all += fmt::format("{}={};", term.text, term.value);
    return all;
  };
  CHECK(terms("2*n + n^2*(n - 1) - max(1 + 1, n) - -3") ==
        "2*n=8;n^2*(n - 1)=48;-max(1 + 1, n)=-4;--3=3;");
  CHECK(terms("-n + 1e+2") == "-n=-4;1e+2=100;");
  CHECK(terms("-n^2 - n^2") == "-n^2=-16;-n^2=-16;");
  CHECK(terms("n * -r") == "n * -r=-12;");
}

namespace {

// A C++ locale that needs no package: "1,5" and "1.000.000".
struct Commas : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

}  // namespace

TEST_CASE("a decimal point is a point in every locale") {
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Commas));
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"})
    if (std::setlocale(LC_ALL, name) != nullptr) break;
  const double half = value("1.5 * n + 0.25");
  const std::string comma = problem("1,5");
  std::setlocale(LC_ALL, "C");
  std::locale::global(before);
  CHECK(half == 6.25);
  CHECK(comma.starts_with("1: \",\" stands only"));
}
