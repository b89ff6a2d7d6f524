#include "tools/slides/region.h"

#include "tools/slides/sources.h"
// The last:
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

const std::string kSource = read_text(DEMO_FOLDER "/lessons/step.cpp");

}  // namespace

TEST_CASE("a region is cut out and moved to the left margin") {
  CHECK(region_of(kSource, "step") ==
        "double step(double x) {\n"
        "  const double y = 2 * x;  // forward\n"
        "\n"
        "  return y - 1;\n"
        "}\n");
  CHECK(region_of(kSource, "other") == "int other = 1;  // ∂x\n");
  CHECK(region_of("# [slide sheet]\nP = 1\n# [end slide]\n", "sheet") == "P = 1\n");
}

TEST_CASE("a region that is not there is told, with those that are") {
  CHECK_THROWS_WITH(region_of(kSource, "stop"),
                    "there is no line \"// [slide stop]\"; regions there: step, empty, other, "
                    "endless");
  CHECK_THROWS_WITH(region_of("int x;\n", "stop"),
                    "there is no line \"// [slide stop]\"; regions there: none");
  CHECK_THROWS_WITH(region_of(kSource, "empty"), "region \"empty\" is empty");
}

TEST_CASE("a region ends before the next begins") {
  const std::string no_end = "region \"endless\" has no line \"[end slide]\"";
  CHECK_THROWS_WITH(region_of(kSource, "endless"), no_end);
  CHECK_THROWS_WITH(region_of(kSource + "// [slide next]\n// [end slide]\n", "endless"), no_end);
}
