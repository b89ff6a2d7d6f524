// An exported model, read by an independent reader in the reference framework, has our logits.
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "storage/gpt2_checkpoint.h"
#include "tests/driver/shell.h"
#include "tests/lessons/01_training_step/support.h"
#include "tests/support/catch.h"

using namespace shardlings;
using namespace shardlings::lesson01;

TEST_CASE("an independent reader of the exported checkpoint gives equal logits") {
  const std::string python = "/usr/bin/python3 ";
  if (shell(python + "-c 'import torch'").code != 0) {
    WARN("skipped: python3-torch is not installed");
    std::exit(77);  // ctest: skipped, not passed
  }
  const TestDevice test("cpu", DType::f64);
  const ModelSize size{.L = 3, .D = 20, .H = 5, .T = 9, .V = 31};
  Gpt model(test.device(), test.dtype, size, 3);
  make_uneven(model.parameters());
  std::vector<NamedTensor> tensors;
  for (const Parameter* parameter : model.parameters())
    tensors.push_back({parameter->name, parameter->value});
  const TemporaryFolder folder;
  export_gpt2(folder.path() / "gpt2", size, tensors);

  const std::vector<std::int32_t> tokens{3, 30, 0, 7, 7, 12};
  std::string command = fmt::format("{}{} {}/gpt2", python, READER, folder.path().string());
  for (const std::int32_t token : tokens) command += fmt::format(" {}", token);
  const Outcome outcome = shell(command);
  CAPTURE(outcome.output);
  REQUIRE(outcome.code == 0);
  const auto logits = nlohmann::json::parse(outcome.output).at("logits");
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    const NamedValues expected{{"logits", logits.at(t).get<std::vector<double>>()}};
    const auto end = tokens.begin() + static_cast<std::ptrdiff_t>(t) + 1;
    const NamedValues got{{"logits", model.next_token_logits({tokens.begin(), end})}};
    CHECK(difference(got, expected, 1e-12, 0) == "");
  }
}
