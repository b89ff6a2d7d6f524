#include "tools/driver/process.h"

#include "tests/support/catch.h"

using namespace shardlings;

TEST_CASE("a program's lines, errors among them, and its exit status") {
  std::vector<std::string> lines;
  const auto keep = [&](std::string_view line) { lines.emplace_back(line); };
  REQUIRE(run_by_line({"sh", "-c", "echo a; echo 'b c' >&2; printf d; exit 3"}, keep) == 3);
  REQUIRE(lines == std::vector<std::string>{"a", "b c", "d"});
  REQUIRE(run_by_line({"sh", "-c", "kill -TERM $$"}, keep) == 128 + 15);
  REQUIRE(run_by_line({"no-such-program"}, keep) == 127);
  REQUIRE(run_by_line({"cat"}, keep) == 0);  // there is nothing to read
}

TEST_CASE("what a program prints, when all went well") {
  REQUIRE(output_of({"sh", "-c", "echo one; echo two; echo error >&2"}) == "one\ntwo");
  REQUIRE(output_of({"sh", "-c", "echo one; exit 1"}).empty());
  REQUIRE(output_of({"no-such-program"}).empty());
}
