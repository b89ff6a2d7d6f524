#include "tools/exercises/skeleton.h"

#include "base/check.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

const std::string kFile = "solutions/10_data_parallel/exercise.cpp";
const std::string kSheet = "solutions/10_data_parallel/budget.toml";

const std::string kSolution = R"(// A comment of both.
#include "lessons/10_data_parallel/exercise.h"

#include <cmath>

#include "comm/communicator.h"

int first(int x) {
  // [exercise 10.1] return one more
  // | More than x.
  //
  // The solution explains itself.
  return x + 1;
  // [end]
}

int second(int x) {
  if (x < 0) return 0;
  // [exercise 10.2] return two more
  return first(first(x));
  // [end]
}
)";

const std::string kHeader =
    "// Lesson 10, yours to write: ./shardlings check 10 judges it, hint 10 helps.\n"
    "// Made from solutions/10_data_parallel/exercise.cpp; ./shardlings reset 10 makes it "
    "anew.\n\n";

const std::string kIncludes = R"(// A comment of both.
#include "lessons/10_data_parallel/exercise.h"

#include <cmath>

#include "base/todo.h"
#include "comm/communicator.h"

)";

const std::string kFirstCut = R"(int first(int x) {
  // 10.1: return one more
  // More than x.
  todo("10.1");
}

)";

void require_refused(const std::string& solution, const std::string& file,
                     const std::string& message) {
  INFO(solution);
  try {
    skeleton(solution, file);
    FAIL("it was not refused");
  } catch (const Error& error) {
    REQUIRE(std::string(error.what()) == message);
    REQUIRE(error.code() == ExitCode::bad_data);
  }
}

// `solution` with one text in the place of another.
std::string with(std::string solution, const std::string& before, const std::string& after) {
  return solution.replace(solution.find(before), before.size(), after);
}

}  // namespace

TEST_CASE("todo() stands where the solution stood") {
  CHECK(skeleton(kSolution, kFile) == kHeader + kIncludes + kFirstCut + R"(int second(int x) {
  if (x < 0) return 0;
  // 10.2: return two more
  todo("10.2");
}
)");
}

TEST_CASE("one step is cut, and the others are solved") {
  CHECK(without_step(kSolution, kFile, "10.1") == kIncludes + kFirstCut + R"(int second(int x) {
  if (x < 0) return 0;
  return first(first(x));
}
)");
  CHECK_THROWS_WITH(without_step(kSolution, kFile, "10.3"), Catch::Contains("no step \"10.3\""));
}

TEST_CASE("the header of todo() has its place among the others") {
  const auto includes_of = [](const std::string& includes) {
    const std::string body = "// [exercise 10.1] do\nit();\n// [end]\n";
    const std::string text = skeleton(includes + body, kFile);
    return text.substr(kHeader.size(), text.find("// 10.1") - kHeader.size());
  };
  const std::string own = "#include \"own.h\"\n", todo = "#include \"base/todo.h\"\n";
  CHECK(includes_of(own) == own + "\n" + todo);
  CHECK(includes_of(own + "#include \"base/axis.h\"\n#include \"x.h\"\n") ==
        own + "#include \"base/axis.h\"\n" + todo + "#include \"x.h\"\n");
  CHECK(includes_of(own + todo) == own + todo);
  require_refused("// [exercise 10.1] do\nit();\n// [end]\n", kFile,
                  kFile + ":1: expected #include of the exercise's header");
}

TEST_CASE("a sheet keeps its rows and loses their formulas") {
  const std::string sheet = R"(# Of both.
[memory]
# [exercise] what is in it?
# | All of it.
# Because of this and that.
parameters = "w * P"   # so much
"dp all_reduce gradients"  =  "2 * (n-1)/n * g * P"

# [end]
given = "B"
)";
  CHECK(skeleton(sheet, kSheet) ==
        "# Lesson 10, yours to write: ./shardlings check 10 judges it, hint 10 helps.\n"
        "# Made from solutions/10_data_parallel/budget.toml; ./shardlings reset 10 makes it anew.\n"
        R"(
# Of both.
[memory]
# what is in it?
# All of it.
parameters = "?"
"dp all_reduce gradients"  = "?"
given = "B"
)");
  require_refused(with(sheet, "\"w * P\"", "'w * P'"), kSheet,
                  kSheet +
                      ":6: expected a row, name = \"formula\", got: "
                      "parameters = 'w * P'   # so much");
  require_refused(with(sheet, "# Because", "[counts] # Because"), kSheet,
                  kSheet +
                      ":5: expected a row, name = \"formula\", got: "
                      "[counts] # Because of this and that.");
}

TEST_CASE("markers that do not match are refused with their line") {
  const auto refused = [](const std::string& before, const std::string& after,
                          const std::string& what) {
    require_refused(with(kSolution, before, after), kFile, kFile + ":" + what);
  };
  const std::string first = "// [exercise 10.1] return one more";
  const auto expected = [&](const std::string& got) {
    return "9: expected \"// [exercise 10.1] the task in one line\", got \"" + got + "\"";
  };
  for (const std::string bad : {"// [exercise 10.2] return", "// [exercise 11.1] return",
                                "// [exercise 10.1]", "// [exercise 10.1] ", "// [exercise]"})
    refused(first, bad, expected(bad));
  refused("  // [end]\n", "", "18: [exercise] inside another one");
  refused(first, "", "10: lines that help, \"// | ...\", stand right below [exercise]");
  refused("  // | More", "  x;\n  // | More",
          "11: lines that help, \"// | ...\", stand right below [exercise]");
}

TEST_CASE("what has no end, no beginning or no content is refused") {
  const std::string own = "#include \"own.h\"\n";
  require_refused(own, kFile, kFile + ":1: there is no [exercise] in it");
  require_refused(own + "// [end]\n", kFile, kFile + ":2: [end] without [exercise]");
  require_refused(own + "// [exercise 10.1] do\nit();\n", kFile,
                  kFile + ":3: [exercise] without its [end]");
  require_refused(own + "// [exercise 10.1] do\n// [end]\n", kFile,
                  kFile + ":3: there is nothing between [exercise] and [end]");
  require_refused(own + "// [exercise 10.1] do\nit();\n// [end] of it\n", kFile,
                  kFile + ":4: expected \"// [end]\"");
}
