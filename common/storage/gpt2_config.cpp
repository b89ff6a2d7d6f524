#include "storage/gpt2_config.h"

#include <algorithm>

#include "base/check.h"
#include "storage/json.h"
#include "tensor/ops.h"

namespace shardlings {

namespace {

enum class Reading {
  required,  // the size of the model: must be there, and equal
  checked,   // what it computes: where it is absent, ours is the default
  ignored,
};

struct Member {
  Reading reading;
  std::string name;
  std::vector<std::string> accepted;  // as JSON; the first is the one that we write
};

std::string_view torch_name(DType dtype) {
  return dtype == DType::f64 ? "float64" : dtype == DType::bf16 ? "bfloat16" : "float32";
}

// gelu_new and gelu_pytorch_tanh are two names of one formula; n_inner null means 4 D.
std::vector<Member> members(const ModelSize& size, DType dtype) {
  using enum Reading;
  const auto number = [](auto value) { return json_text({value}); };
  return {
      {ignored, "architectures", {R"(["GPT2LMHeadModel"])"}},
      {required, "model_type", {R"("gpt2")"}},
      {required, "n_layer", {number(size.L)}},
      {required, "n_embd", {number(size.D)}},
      {required, "n_head", {number(size.H)}},
      {required, "n_positions", {number(size.T)}},
      {required, "vocab_size", {number(size.V)}},
      {checked, "n_inner", {"null", number(size.F())}},
      {checked, "activation_function", {R"("gelu_new")", R"("gelu_pytorch_tanh")"}},
      {checked, "layer_norm_epsilon", {number(kLayerNormEpsilon)}},
      {checked, "scale_attn_weights", {"true"}},
      {checked, "scale_attn_by_inverse_layer_idx", {"false"}},
      {checked, "add_cross_attention", {"false"}},
      {checked, "tie_word_embeddings", {"true"}},
      {ignored, "attn_pdrop", {"0.0"}},
      {ignored, "embd_pdrop", {"0.0"}},
      {ignored, "resid_pdrop", {"0.0"}},
      {ignored, "bos_token_id", {"null"}},
      {ignored, "eos_token_id", {"null"}},
      {ignored, "torch_dtype", {fmt::format("\"{}\"", torch_name(dtype))}},
  };
}

}  // namespace

std::string gpt2_config(const ModelSize& size, DType dtype) {
  std::string text;
  for (const auto& [reading, name, accepted] : members(size, dtype))
    text += fmt::format("{}\n  \"{}\": {}", text.empty() ? "{" : ",", name, accepted.front());
  return text + "\n}\n";
}

void check_gpt2_config(std::string_view text, const std::string& path, const ModelSize& size) {
  const Json json = parse_json(text, path);
  const auto* config = std::get_if<Json::Object>(&json.value);
  if (config == nullptr) fail(ExitCode::bad_data, "{}: an object expected", path);

  bool is_ours = true;
  std::string theirs, ours;  // the sizes, and whatever else differs
  for (const auto& [reading, name, accepted] : members(size, DType::f32)) {
    if (reading == Reading::ignored) continue;
    const Json* found = find(*config, name);
    const bool is_equal = found == nullptr
                              ? reading == Reading::checked
                              : std::ranges::find(accepted, json_text(*found)) != accepted.end();
    is_ours = is_ours && is_equal;
    if (is_equal && reading == Reading::checked) continue;
    theirs += fmt::format(" {} {},", name, found == nullptr ? "absent" : excerpt(*found));
    ours += fmt::format(" {} {},", name, accepted.front());
  }
  if (is_ours) return;
  theirs.pop_back();
  ours.pop_back();
  fail(ExitCode::bad_data, "{} is not of this run's model: it has{}; expected{}", path, theirs,
       ours);
}

}  // namespace shardlings
