#include "base/check.h"

#include <string>

#include "base/todo.h"

namespace {
void needs_even(int n) {
  CHECK(n % 2 == 0, "n is {}, not even", n);
}
}  // namespace

#include "tests/support/catch.h"

using namespace shardlings;

TEST_CASE("a broken contract says what, why and where in one line") {
  needs_even(4);
  try {
    needs_even(3);
    FAIL("must throw");
  } catch (const Error& error) {
    const std::string message = error.what();
    CHECK(message.find("n is 3, not even (n % 2 == 0 does not hold, ") == 0);
    CHECK(message.find("check_test.cpp:") != std::string::npos);
    CHECK(message.find('\n') == std::string::npos);
    CHECK(error.code() == ExitCode::broken);
  }
}

TEST_CASE("an unwritten exercise names itself") {
  CHECK_THROWS_WITH(todo("10.1"), "not written yet: 10.1");
  CHECK_THROWS_AS(todo("10.1"), NotWritten);
}
