#include "tools/slides/golden.h"

#include <filesystem>

#include "tests/support/catch.h"

using namespace shardlings;

namespace {

std::string shown(const std::string& line) {
  std::filesystem::current_path(DEMO_FOLDER);
  Sources sources;
  return with_golden_numbers(line, "demo", sources);
}

std::string golden(const std::string& request) {
  return shown("{{golden " + request + "}}");
}

}  // namespace

TEST_CASE("golden numbers are shown as asked") {
  CHECK(golden("memory.0.0.peak_bytes as bytes") == "48.0 MiB");
  CHECK(golden("model.P as count") == "842,496");
  CHECK(golden("entropy_floor as number") == "0.343");
  CHECK(golden("schema as number") == "1");
  CHECK(golden("counts.0.rows[model FLOPs per step].measured as number") == "5.84·10⁹");
  CHECK(golden("schema of memory.0.0.peak_bytes as number") == "1.99·10⁻⁸");
  CHECK(golden("model.P of model.P as percent") == "100%");
  CHECK(golden("memory.0.0.rows[parameters].peak_bytes of memory.0.0.peak_bytes as percent") ==
        "6.7%");
  CHECK(golden("dtype") == "f32");
}

TEST_CASE("rows are found by name or index") {
  CHECK(golden("memory.0.0.rows[optimizer].peak_bytes as count") == "6,739,968");
  CHECK(golden("memory.0.0.rows.2.peak_bytes as count") == "6,739,968");
  CHECK(golden("memory.0.0.owners_at_peak[h.0.mlp.gelu (activations)].bytes as bytes") ==
        "2.00 MiB");
  CHECK(golden("traffic.0.rows[dp all_reduce gradients].sent_bytes as bytes") == "4.82 MiB");
}

TEST_CASE("a line may hold several numbers, of any report") {
  CHECK(shown("no numbers") == "no numbers");
  CHECK(shown("{{golden dtype}}: {{golden demo model.P as count}}.") == "f32: 842,496.");
}

TEST_CASE("what a report does not hold is refused with what it holds") {
  const std::string file = "tests/golden/demo.json: ";
  CHECK_THROWS_WITH(golden("memory.0.0.peek_bytes as bytes"),
                    file +
                        "memory.0.0.peek_bytes: there is no peek_bytes but owners_at_peak, "
                        "peak_bytes, rows, tier");
  CHECK_THROWS_WITH(golden("memory.0.0.rows[params].peak_bytes as bytes"),
                    file +
                        "memory.0.0.rows[params].peak_bytes: there is no [params] but 0, 1, 2, "
                        "3, [activations], [gradients], [optimizer], [parameters]");
  CHECK_THROWS_WITH(golden("schema.x as count"),
                    file + "schema.x: there is no x but a single value");
  CHECK_THROWS_WITH(golden("trade as count"), file + "trade: expected a number, got null");
  CHECK_THROWS_WITH(golden("trade"),
                    file + "trade is no text: add \"as bytes\", count, number or percent");
  CHECK_THROWS_WITH(golden("entropy_floor as count"),
                    file + "0.3431538239936054 is no whole number, which \"as count\" needs");
  CHECK_THROWS_WITH(golden("schema of memory.0.0.rows[parameters].at_peak_bytes as number"),
                    file + "memory.0.0.rows[parameters].at_peak_bytes is 0");
  CHECK_THROWS_WITH(golden("schema as euros"),
                    file + "\"as euros\": expected bytes, count, number or percent");
  CHECK_THROWS_WITH(golden("nowhere schema as count"), "tests/golden/nowhere.json cannot be read");
}

TEST_CASE("requests that cannot be read are refused") {
  const std::string form = "expected {{golden [NAME] PATH [of PATH] [as FORMAT]}}, got ";
  CHECK_THROWS_WITH(golden(""), form + "\"\"");
  CHECK_THROWS_WITH(golden("as count"), form + "\"as count\"");
  CHECK_THROWS_WITH(golden("a b c as count"), form + "\"a b c as count\"");
  for (const char* line : {"{{gloden schema}}", "{{golden schema", "{{"})
    CHECK_THROWS_WITH(shown(line), "expected {{golden ...}}, got \"" + std::string(line) + "\"");
}
