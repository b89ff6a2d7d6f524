#include "budget/letters.h"

#include "base/check.h"
#include "budget/evaluate.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

constexpr const char* kParameters = "V*D + T*D + L*(12*D^2 + 13*D) + 2*D";

double parameters(std::string_view model) {
  return Formula(kParameters).value(letters(model_named(model), 1, "f32"));
}

std::string problem(const std::function<void()>& action) {
  try {
    action();
    return "";
  } catch (const Error& error) {
    return error.code() == ExitCode::usage ? error.what() : "another exit code";
  }
}

}  // namespace

TEST_CASE("parameter counts of GPT-2 and GPT-3 are exact") {
  const std::vector<std::pair<std::string_view, double>> models{
      {"gpt2", 124'439'808},        {"gpt2-medium", 354'823'168}, {"gpt2-large", 774'030'080},
      {"gpt2-xl", 1'557'611'200},   {"gpt3-small", 125'226'240},  {"gpt3-medium", 355'871'744},
      {"gpt3-large", 760'300'032},  {"gpt3-xl", 1'315'723'264},   {"gpt3-2.7b", 2'651'553'280},
      {"gpt3-6.7b", 6'658'404'352}, {"gpt3-13b", 12'853'386'240}, {"gpt3-175b", 174'604'259'328},
  };
  for (const auto& [model, P] : models) {
    INFO(model);
    CHECK(parameters(model) == P);
    CHECK(letters(model_named(model), 1, "f32").at("P") == P);
  }
}

TEST_CASE("every model that has a name can be built") {
  CHECK(model_names().size() == 14);
  for (const std::string_view name : model_names())
    CHECK(violated_rules(model_named(name)).empty());
  CHECK(model_named("nano") == model_presets().front().size);
}

TEST_CASE("letters are those of the model, of one device, and of the policy") {
  const Values values = letters({.L = 8, .D = 72, .H = 24, .T = 48, .V = 61}, 5, "bf16_f32_grads");
  CHECK(values ==
        Values{{"B", 5},     {"T", 48},   {"D", 72},
               {"H", 24},    {"K", 3},    {"L", 8},
               {"F", 288},   {"V", 61},   {"P", 61. * 72 + 48 * 72 + 8 * (12 * 5184 + 936) + 144},
               {"w", 2},     {"g", 4},    {"o", 12},
               {"a", 2},     {"M", 1},    {"dp", 1},
               {"tp", 1},    {"pp", 1},   {"cp", 1},
               {"ep", 1},    {"n", 1},    {"rank", 0},
               {"stage", 0}, {"batch", 5}});
  std::string table;
  for (const auto& [name, w, g, o, a] : byte_policies())
    table += fmt::format("{} {}+{}+{} {};", name, w, g, o, a);
  CHECK(table == "f32 4+4+8 4;bf16 2+2+12 2;bf16_f32_grads 2+4+12 2;f64 8+8+16 8;");
}

TEST_CASE("a name that is not there shows the nearest") {
  CHECK(problem([] { model_named("gpt3-157b"); }) ==
        "unknown model \"gpt3-157b\"; did you mean gpt3-175b?");
  CHECK(
      problem([] { model_named("llama"); }).starts_with("unknown model \"llama\"; there are nano"));
  CHECK(problem([] { letters(model_named("nano"), 1, "BF16"); }) ==
        "unknown byte policy \"BF16\"; did you mean bf16?");
  CHECK(problem([] { letters(model_named("nano"), 1, "int8"); }) ==
        "unknown byte policy \"int8\"; there are f32, bf16, bf16_f32_grads, f64");
}

// Rajbhandari et al. 2020, ZeRO, table 1, whose bytes are 2 + 2 + 12 per parameter: GB per device.
TEST_CASE("the memory of ZeRO's stages is that of its paper") {
  const Sheet sheet = parse_sheet(
      "[memory]\n"
      "zero1 = \"w*P + g*P + o*P/n\"\n"
      "zero2 = \"w*P + (g+o)*P/n\"\n"
      "zero3 = \"(w+g+o)*P/n\"\n",
      "zero.toml");
  struct Cell {
    double P, n, zero1, zero2, zero3, tolerance;
  };
  for (const Cell& cell :
       {Cell{7.5e9, 1, 120, 120, 120, 0}, Cell{7.5e9, 4, 52.5, 41.3, 30, 0.05},
        Cell{7.5e9, 64, 31.4, 16.6, 1.88, 0.05}, Cell{7.5e9, 1024, 30.1, 15.1, 0.12, 0.05},
        Cell{128e9, 16, 608, 368, 128, 0}, Cell{128e9, 256, 518, 263, 8, 1},
        Cell{1e12, 64, 4187, 2218, 250, 1}, Cell{1e12, 1024, 4011, 2013, 15.6, 1}}) {
    Values values = letters(model_named("nano"), 1, "bf16");
    values["P"] = cell.P;
    values["n"] = cell.n;
    const auto rows = evaluate(sheet, values);
    INFO(cell.P << " on " << cell.n);
    CHECK(std::abs(*rows[0].value / 1e9 - cell.zero1) <= cell.tolerance);
    CHECK(std::abs(*rows[1].value / 1e9 - cell.zero2) <= cell.tolerance);
    CHECK(std::abs(*rows[2].value / 1e9 - cell.zero3) <= cell.tolerance);
  }
}
