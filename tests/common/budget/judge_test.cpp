#include "base/check.h"
#include "budget/letters.h"
#include "budget/verdict.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

// What lesson 01 would measure of a model, in bytes.
Configuration measured(std::string name, const ModelSize& size, std::string_view policy) {
  Configuration run{.name = std::move(name), .letters = letters(size, 3, policy), .measured = {}};
  const double P = run.letters.at("P");
  run.measured = {{{"let", "P"}, P},
                  {{"memory", "parameters"}, run.letters["w"] * P},
                  {{"memory", "gradients"}, run.letters["g"] * P},
                  {{"counts", "steps"}, 7}};
  run.letters.erase("P");
  return run;
}

const std::vector<Configuration>& runs() {
  static const std::vector<Configuration> configurations{
      measured("f32, L4", {.L = 4, .D = 128, .H = 4, .T = 128, .V = 256}, "f32"),
      measured("f64, L3", {.L = 3, .D = 24, .H = 3, .T = 12, .V = 61}, "f64"),
      measured("f32, L1", {.L = 1, .D = 8, .H = 2, .T = 5, .V = 11}, "f32")};
  return configurations;
}

std::vector<JudgedRow> judged(const std::string& toml) {
  return judge(parse_sheet(toml, "b.toml"), runs());
}

std::string problem(const std::string& toml) {
  try {
    judged(toml);
    return "";
  } catch (const Error& error) {
    return error.code() == ExitCode::bad_data ? error.what() : "another exit code";
  }
}

const std::string kP = "P = \"V*D + T*D + L*(12*D^2 + 13*D) + 2*D\"\n";

}  // namespace

TEST_CASE("a row is exact when it is exact in every configuration") {
  const auto rows = judged("[let]\n" + kP +
                           "own = \"2\"\n[memory]\nparameters = \"w*P\"\n"
                           "gradients = \"g*P\"\n[counts]\nsteps = \"7\"\n");
  REQUIRE(rows.size() == 4);  // own names are judged only when they are measured
  for (const JudgedRow& row : rows) {
    INFO(row.name);
    CHECK(row.verdict == "exact");
    CHECK(row.hint.empty());
    CHECK(row.configuration.empty());
  }
  CHECK(rows[0].name == "P");
  CHECK(rows[1].formula == "w*P");
}

TEST_CASE("a number that fits one run by luck is wrong in another, which is named") {
  const auto rows =
      judged("[let]\n" + kP + "[memory]\nparameters = \"4*P\"\ngradients = \"3344896\"\n");
  CHECK(rows[1].verdict == "2.00× too small");
  CHECK(rows[1].configuration == "f64, L3");
  CHECK(rows[2].verdict->ends_with("too large"));
  CHECK(rows[2].configuration == "f64, L3");
}

TEST_CASE("elements for bytes are diagnosed over all configurations, where 4 is also L and H") {
  const auto rows = judged("[let]\n" + kP + "[memory]\nparameters = \"P\"\n");
  CHECK(rows[1].verdict == "4.00× too small = w: elements were counted, not bytes");
  CHECK(rows[1].configuration == "f32, L4");
}

TEST_CASE("a close row says what it lacks") {
  const auto rows = judge(parse_sheet("[let]\nP = \"V*D + T*D + L*(12*D^2 + 13*D)\"\n[memory]\n"
                                      "parameters = \"w*P\"\n",
                                      "b.toml"),
                          std::span(runs()).first(1));
  CHECK(rows[0].verdict == "close");
  CHECK(rows[0].hint == "too small by 256: as much as the final LayerNorm");
  CHECK(rows[1].verdict == "close");
  CHECK(rows[1].hint == "too small by 1,024: as much as the final LayerNorm");
  CHECK(rows[1].configuration == "f32, L4");
}

TEST_CASE("what is not written has no verdict, nor what the sheet lacks") {
  const auto rows = judged("[let]\nP = \"?\"\n[memory]\nparameters = \"w*P\"\n");
  REQUIRE(rows.size() == 4);
  for (const JudgedRow& row : rows) CHECK_FALSE(row.verdict);
  CHECK(rows[1].formula == "w*P");
  CHECK(rows[2].name == "steps");
  CHECK(rows[2].formula == "?");
  CHECK(rows[3].name == "gradients");
}

TEST_CASE("a row that nothing measures is refused with its place") {
  CHECK(problem("[memory]\nparamters = \"w\"\n") ==
        "b.toml:2:1: no row \"paramters\" of [memory] is measured; did you mean parameters?");
  CHECK(problem("[memory]\nsteps = \"7\"\n") ==
        "b.toml:2:1: no row \"steps\" of [memory] is measured; there are gradients, parameters");
  CHECK(problem("[traffic]\nall = \"7\"\n") ==
        "b.toml:2:1: no row \"all\" of [traffic] is measured; there are none");
}

TEST_CASE("a configuration that does not measure a row has zero there") {
  std::vector<Configuration> two{runs()[0], runs()[1]};
  two[0].letters["n"] = 1;
  two[1].letters["n"] = 2;
  two[1].measured[{"traffic", "dp all_reduce gradients"}] = 500;
  const auto verdict = [&](const std::string& formula) {
    return judge(parse_sheet("[traffic]\n\"dp all_reduce gradients\" = \"" + formula + "\"\n",
                             "b.toml"),
                 two)
        .front();
  };
  CHECK(verdict("1000*(n-1)/n").verdict == "exact");
  CHECK(verdict("500").verdict == "500 where nothing was measured");
  CHECK(verdict("500").configuration == "f32, L4");
}
