#include "tools/driver/build_log.h"

#include "tests/support/catch.h"

using namespace shardlings;

TEST_CASE("the step of a line of ninja's") {
  REQUIRE(step_of("[3/14] Building CXX object a.o") == "3/14");
  REQUIRE_FALSE(step_of("[-Wshadow] is on"));
  REQUIRE_FALSE(step_of("a.cpp:3:1: error: b[1] "));
}

TEST_CASE("of a failed build only the compiler's words are shown") {
  const std::vector<std::string> log{
      "[0/2] Re-checking globbed directories...",
      "[1/2] Building CXX object a.o",
      "FAILED: a.o ",
      "/usr/bin/c++ -O3 -o a.o -c a.cpp",
      "a.cpp:3:1: error: 'x' was not declared",
      "    3 | x;",
      "ninja: build stopped: subcommand failed.",
  };
  REQUIRE(messages_of(log) == std::vector<std::string>{log[4], log[5]});
  const std::vector<std::string> no_target{"ninja: error: unknown target 'lesson_99'"};
  REQUIRE(messages_of(no_target) == no_target);
}
