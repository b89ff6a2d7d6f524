#include <cmath>

#include "bench/record.h"
#include "tests/driver/shell.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

// A record of the case tiny, by 4 steps of bench_step.
Record tiny(const std::filesystem::path& folder, const std::string& options) {
  const auto file = folder / "tiny.jsonl";
  const Outcome outcome =
      shell(BENCH_STEP " tiny --steps 4 --record " + file.string() + " " + options);
  INFO(outcome.output);
  REQUIRE(outcome.code == 0);
  return records_in(file).back();
}

}  // namespace

TEST_CASE("a benchmark of the step counts what a step does") {
  const TemporaryFolder folder;
  const Record record = tiny(folder.path(), "--threads 2");
  const auto value = [&](const char* name) { return number(record, name); };

  const double L = value("L"), D = value("D"), T = value("T"), V = value("V");
  const double tokens = value("B") * T;
  REQUIRE(value("model_flops") == 6 * tokens * (12 * L * D * D + V * D) + 12 * L * T * D * tokens);
  REQUIRE(value("steps") == 4);
  REQUIRE(value("threads") == 2);

  const double seconds = value("step_ms") / 1e3;
  REQUIRE(value("tokens_per_second") * seconds == Approx(tokens));
  REQUIRE(value("gflops") * 1e9 * seconds == Approx(value("model_flops")));
  REQUIRE(value("share_of_peak") * value("peak_gflops") == Approx(value("gflops")));
  REQUIRE(value("shortest_ms") <= value("step_ms"));
  REQUIRE(value("step_ms") <= value("longest_ms"));
  for (const char* part : {"products_ms", "attention_ms", "rest_ms", "host_ms"})
    REQUIRE(value(part) > 0);
  REQUIRE(value("products_ms") + value("attention_ms") + value("rest_ms") + value("host_ms") ==
          Approx(value("step_ms")));

  // Weights, gradients and two moments are there all the time.
  const double P = V * D + T * D + L * (12 * D * D + 13 * D) + 2 * D;
  REQUIRE(value("booked_peak_bytes") > 16 * P);
  REQUIRE(value("resident_peak_bytes") > value("booked_peak_bytes"));
}

TEST_CASE("its losses do not depend on type, threads or an export") {
  const TemporaryFolder folder;
  const auto losses = [&](const std::string& options) {
    std::vector<double> result;
    const Record record = tiny(folder.path(), options);
    for (const Json& loss : std::get<Json::Array>(find(record, "losses")->value))
      result.push_back(std::get<double>(loss.value));
    return result;
  };
  const std::vector<double> expected = losses("--dtype f64");
  REQUIRE(expected.size() == 3);
  REQUIRE(expected[0] == Approx(std::log(300)).epsilon(0.01));
  REQUIRE(losses("--dtype f64 --threads 3") == expected);
  const std::vector<double> in_f32 = losses("--export " + (folder.path() / "start").string());
  for (std::size_t i = 0; i < 3; ++i) REQUIRE(in_f32[i] == Approx(expected[i]).epsilon(1e-5));
  REQUIRE(std::filesystem::exists(folder.path() / "start/model.safetensors"));
}

TEST_CASE("what was kept becomes a table and a text") {
  const TemporaryFolder folder;
  tiny(folder.path(), "");
  const std::string name = folder.path().string();
  const Outcome table = shell("COLUMNS=100 " BENCH_TABLE " " + name + "/tiny.jsonl");
  REQUIRE(table.code == 0);
  REQUIRE(contains(table.output, "\n  tiny  f32 "));

  REQUIRE(shell(BENCH_TABLE " --readme " + name).code == 0);
  const std::string text = read_file(folder.path() / "README.md");
  REQUIRE(contains(text, "\n| tiny | f32 | 1 | "));
  REQUIRE(shell(BENCH_TABLE " --readme " + name).code == 0);
  REQUIRE(read_file(folder.path() / "README.md") == text);
}

TEST_CASE("a wrong command line of a benchmark is refused") {
  for (const char* line :
       {BENCH_STEP, BENCH_STEP " B", BENCH_STEP " tiny --steps", BENCH_STEP " tiny --dtype f16",
        BENCH_STEP " tiny --stpes 3", DRIVER " bench opps", DRIVER " bench --sav x"}) {
    INFO(line);
    REQUIRE(shell(line).code == 64);
  }
}
