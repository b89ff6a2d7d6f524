#include <nlohmann/json.hpp>

#include "budget/evaluate.h"
#include "budget/letters.h"
#include "budget/words.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

std::vector<BudgetRow> at_scale() {
  Values values = letters(model_named("gpt3-175b"), 1, "bf16");
  values.erase("P");
  values["n"] = 64;
  return evaluate(parse_sheet("[memory]\n"
                              "parameters = \"w * P\"\n"
                              "optimizer = \"o * P/n\"\n"
                              "activations = \"?\"\n"
                              "model_and_activations = \"w*P + all\"\n"
                              "[let]\n"
                              "all = \"?\"\n"
                              "P = \"V*D + T*D + L*(12*D^2 + 13*D) + 2*D\"\n"
                              "[traffic]\n"
                              "\"dp all_reduce gradients\" = \"2*(n-1)/n *\tg*P\"\n"
                              "[counts]\n"
                              "messages = \"2*(n-1) - 1/3\"\n",
                              "b.toml"),
                  values);
}

}  // namespace

TEST_CASE("a budget is shown with the values of its terms") {
  CHECK(
      budget_text(at_scale()) ==
      "let: names of your own\n"
      "  all                                    ?            not written yet\n"
      "  P                        174,604,259,328            V*D + T*D + L*(12*D^2 + 13*D) + 2*D\n"
      "                               617,558,016              V*D\n"
      "                                25,165,824              T*D\n"
      "                           173,961,510,912              L*(12*D^2 + 13*D)\n"
      "                                    24,576              2*D\n"
      "\n"
      "memory: bytes on this rank, each row at its own peak\n"
      "  parameters               349,208,518,656   325 GiB  w * P\n"
      "  optimizer                 32,738,298,624  30.5 GiB  o * P/n\n"
      "  activations                            ?            not written yet\n"
      "  model_and_activations                  ?            w*P + all  waits for all\n"
      "\n"
      "traffic: bytes this rank sends per optimizer step\n"
      "  dp all_reduce gradients  687,504,271,104   640 GiB  2*(n-1)/n *\tg*P\n"
      "\n"
      "counts\n"
      "  messages                          125.67            2*(n-1) - 1/3\n"
      "                                       126              2*(n-1)\n"
      "                                     -0.33              -1/3\n");
}

TEST_CASE("a budget as JSON") {
  const auto json = nlohmann::json::parse(budget_json(at_scale()));
  REQUIRE(json["rows"].size() == 8);
  const auto& P = json["rows"][5];
  CHECK(P["table"] == "let");
  CHECK(P["name"] == "P");
  CHECK(P["value"] == 174604259328.0);
  CHECK(P["terms"].size() == 4);
  CHECK(P["terms"][0] == nlohmann::json{{"text", "V*D"}, {"value", 617558016.0}});
  CHECK(json["rows"][2]["value"].is_null());
  CHECK(json["rows"][2]["formula"] == "?");
  CHECK(json["rows"][3]["waits_for"] == "all");
  CHECK(json["rows"][6]["formula"] == "2*(n-1)/n *\tg*P");
  CHECK(nlohmann::json::parse(budget_json({}))["rows"].empty());
}

TEST_CASE("amounts are whole where they are meant to be") {
  CHECK(format_amount(0) == "0");
  CHECK(format_amount(1234567) == "1,234,567");
  CHECK(format_amount(-1234567) == "-1,234,567");
  CHECK(format_amount(28.5) == "28.50");
  CHECK(format_amount(5.9999999999999) == "6");
  CHECK(format_amount(0x1p53) == "9,007,199,254,740,992");
  CHECK(format_amount(3.14e23) == "3.14e+23");
}
