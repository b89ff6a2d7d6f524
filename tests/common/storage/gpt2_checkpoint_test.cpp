#include "storage/gpt2_checkpoint.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <tuple>

#include "tests/common/base/file_size_limit.h"
#include "tests/common/data/scratch.h"
#include "tests/common/storage/failure.h"
#include "tests/common/storage/hand_made.h"
#include "tests/common/storage/model.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

namespace fs = std::filesystem;

// A tensor as a file holds it.
struct Stored {
  std::string name;
  StoredType type;
  std::vector<std::int64_t> shape;
  std::string bytes;
};

void write(const fs::path& path, const std::vector<Stored>& tensors) {
  std::vector<TensorEntry> entries;
  for (const Stored& tensor : tensors) entries.push_back({tensor.name, tensor.type, tensor.shape});
  SafetensorsWriter writer(path, entries, {});
  for (const Stored& tensor : tensors) writer.append(std::as_bytes(std::span(tensor.bytes)));
  writer.commit();
}

std::vector<Stored> read(const fs::path& path) {
  const SafetensorsFile file(path);
  std::vector<Stored> tensors;
  for (const TensorEntry& entry : file.entries()) {
    tensors.push_back({entry.name, entry.type, entry.shape, std::string(entry.bytes, '\0')});
    file.read(entry, std::as_writable_bytes(std::span(tensors.back().bytes)));
  }
  return tensors;
}

// An exported model that a test may spoil, and what importing it says.
class Exported {
 public:
  Exported() {
    export_gpt2(directory, kSmall, model_tensors(*machine.device, DType::f32, kSmall, 1));
  }

  void change(const std::function<void(std::vector<Stored>&)>& edit) const {
    std::vector<Stored> tensors = read(model);
    edit(tensors);
    write(model, tensors);
  }

  void replace_in_config(const std::string& from, const std::string& to) const {
    std::string text = read_text(config, 10'000);
    REQUIRE(text.find(from) != text.npos);
    text.replace(text.find(from), from.size(), to);
    std::ofstream(config) << text;
  }

  std::string importing() const {
    return failure([&] { import_gpt2(directory, kSmall, into); });
  }

  Scratch scratch;
  const fs::path directory = scratch.folder() / "gpt2";
  const fs::path model = directory / "model.safetensors";
  const fs::path config = directory / "config.json";
  Machine machine;
  const std::vector<NamedTensor> into = model_tensors(*machine.device, DType::f32, kSmall, 2);
};

}  // namespace

TEST_CASE("a model comes back from a checkpoint in any type, on any device") {
  for (const bool guarded : {false, true})
    for (const DType from : {DType::f32, DType::f64, DType::bf16})
      for (const DType to : {DType::f32, DType::f64, DType::bf16}) {
        const Scratch scratch;
        Machine machine(guarded);
        const auto saved = model_tensors(*machine.device, from, kSmall, 1);
        const auto loaded = model_tensors(*machine.device, to, kSmall, 2);
        export_gpt2(scratch.folder(), kSmall, saved);
        import_gpt2(scratch.folder(), kSmall, loaded);
        CHECK(values_of(loaded) == values_of(saved, to));
      }
}

TEST_CASE("names, shapes and configuration are those of GPT2LMHeadModel") {
  const Exported exported;
  const SafetensorsFile file(exported.model);
  CHECK(file.metadata() == Metadata{{"format", "pt"}});
  CHECK(file.entries().size() == 28);
  const auto shape_of = [&](std::string_view name) {
    const auto entry = std::ranges::find(file.entries(), name, &TensorEntry::name);
    return entry == file.entries().end() ? "none" : entry->shape_text();
  };
  CHECK(shape_of("transformer.h.1.attn.c_attn.weight") == "[6, 18]");
  CHECK(shape_of("transformer.h.0.mlp.c_proj.weight") == "[24, 6]");
  CHECK(shape_of("transformer.wte.weight") == "[7, 6]");
  CHECK(shape_of("lm_head.weight") == "none");
  CHECK(read_text(exported.config, 10'000) == R"({
  "architectures": ["GPT2LMHeadModel"],
  "model_type": "gpt2",
  "n_layer": 2,
  "n_embd": 6,
  "n_head": 3,
  "n_positions": 5,
  "vocab_size": 7,
  "n_inner": null,
  "activation_function": "gelu_new",
  "layer_norm_epsilon": 1e-05,
  "scale_attn_weights": true,
  "scale_attn_by_inverse_layer_idx": false,
  "add_cross_attention": false,
  "tie_word_embeddings": true,
  "attn_pdrop": 0.0,
  "embd_pdrop": 0.0,
  "resid_pdrop": 0.0,
  "bos_token_id": null,
  "eos_token_id": null,
  "torch_dtype": "float32"
}
)");
}

TEST_CASE("files as others write them are read as well") {
  const Exported exported;
  const auto expected = model_tensors(*exported.machine.device, DType::f32, kSmall, 1);
  exported.change([](std::vector<Stored>& tensors) {
    const std::string table = tensors.front().bytes;
    for (Stored& tensor : tensors) tensor.name.erase(0, std::strlen("transformer."));
    tensors.push_back({"h.0.attn.bias", StoredType::boolean, {1, 1, 5, 5}, std::string(25, '\1')});
    tensors.push_back({"h.1.attn.masked_bias", StoredType::f32, {}, "abcd"});
    tensors.push_back({"lm_head.weight", StoredType::f32, {7, 6}, table});
    std::ranges::reverse(tensors);
  });
  exported.replace_in_config("\"n_inner\": null", "\"n_inner\": 24, \"n_ctx\": 5");
  exported.replace_in_config("gelu_new", "gelu_pytorch_tanh");
  exported.replace_in_config("  \"tie_word_embeddings\": true,\n", "");
  exported.replace_in_config("\"attn_pdrop\": 0.0", "\"attn_pdrop\": 0.1");
  CHECK(exported.importing() == "");
  CHECK(values_of(exported.into) == values_of(expected));
}

TEST_CASE("half precision is converted") {
  const Exported exported;
  const std::vector<std::tuple<std::string, double, double>> bits{
      // two bytes, as F16, as BF16
      {{'\x00', '\x3c'}, 1, 0x1p-7},
      {{'\x01', '\xbc'}, -1 - 0x1p-10, -0x1.02p-7},
      {{'\xff', '\x7b'}, 65504, 0x1.fep120},
      {{'\x01', '\x00'}, 0x1p-24, 0x1p-133},
      {{'\xff', '\x83'}, -0x1.ff8p-15, -0x1.fep-120},
      {{'\x00', '\x80'}, -0.0, -0.0},
  };
  for (const auto type : {StoredType::f16, StoredType::bf16}) {
    exported.change([&](std::vector<Stored>& tensors) {
      Stored& tensor = tensors[3];  // h.0.ln_1.bias
      REQUIRE(tensor.shape == std::vector<std::int64_t>{6});
      tensor.type = type;
      tensor.bytes.clear();
      for (const auto& [bytes, f16, bf16] : bits) tensor.bytes += bytes;
    });
    REQUIRE(exported.importing() == "");
    const std::vector<double> got = exported.into[3].value.to_doubles();
    for (std::size_t i = 0; i < bits.size(); ++i) {
      const double right = type == StoredType::f16 ? std::get<1>(bits[i]) : std::get<2>(bits[i]);
      INFO(i);
      CHECK(got[i] == right);
      CHECK(std::signbit(got[i]) == std::signbit(right));
    }
  }
  exported.change([&](std::vector<Stored>& tensors) {
    tensors[3].type = StoredType::f16;
    tensors[3].bytes = std::string("\x00\x7c\x00\xfc\x01\x7c\xff\xff\x00\x00\x00\x00", 12);
  });
  REQUIRE(exported.importing() == "");
  const std::vector<double> got = exported.into[3].value.to_doubles();
  CHECK(got[0] == HUGE_VAL);
  CHECK(got[1] == -HUGE_VAL);
  CHECK(std::isnan(got[2]));
  CHECK(std::isnan(got[3]));
}

TEST_CASE("another model is refused with both configurations") {
  const Exported exported;
  const ModelSize wider{.L = 2, .D = 8, .H = 4, .T = 5, .V = 7};
  CHECK(failure([&] {
          import_gpt2(exported.directory, wider,
                      model_tensors(*exported.machine.device, DType::f32, wider, 1));
        }) ==
        "65: " + exported.config.string() +
            " is not of this run's model: it has model_type \"gpt2\", n_layer 2, n_embd 6, n_head "
            "3, n_positions 5, vocab_size 7; expected model_type \"gpt2\", n_layer 2, n_embd 8, "
            "n_head 4, n_positions 5, vocab_size 7");

  const std::vector<std::tuple<std::string, std::string, std::string>> changes{
      {"\"gpt2\"", "\"bert\"", "it has model_type \"bert\""},
      {"  \"n_layer\": 2,\n", "", "n_layer absent"},
      {"\"n_layer\": 2", "\"n_layer\": \"2\"", "n_layer \"2\""},
      {"\"n_layer\": 2", "\"n_layer\": -2", "n_layer -2"},
      {"\"n_layer\": 2", "\"n_layer\": 2.0", "n_layer 2.0"},
      {"\"n_layer\": 2", "\"n_layer\": 2, \"n_layer\": 2", "the name \"n_layer\" is there twice"},
      {"\"n_layer\": 2", "\"n_layer\": NaN", "not JSON"},
      {"gelu_new", "relu", "activation_function \"relu\"; expected"},
      {"1e-05", "1e-06", "layer_norm_epsilon 1e-06; expected"},
      {"\"n_inner\": null", "\"n_inner\": 25", "n_inner 25"},
      {"\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false", "tie_word_embeddings fa"},
  };
  const std::string good = read_text(exported.config, 10'000);
  for (const auto& [from, to, says] : changes) {
    INFO(to);
    std::ofstream(exported.config) << good;
    exported.replace_in_config(from, to);
    const std::string message = exported.importing();
    CHECK(message.starts_with("65: "));
    CHECK_THAT(message, Catch::Contains(says));
  }
  std::ofstream(exported.config) << "[]";
  CHECK_THAT(exported.importing(), Catch::Contains("an object expected"));
  std::ofstream(exported.config) << std::string((1 << 20) + 1, ' ');
  CHECK_THAT(exported.importing(), Catch::Contains("at most 1,048,576 expected"));
  fs::remove(exported.config);
  CHECK_THAT(exported.importing(), Catch::Contains("66: cannot read " + exported.config.string()));
}

TEST_CASE("other tensors than the model's are refused, and nothing is filled") {
  using Tensors = std::vector<Stored>;
  const std::string table(7 * 6 * 4, 'x');
  const std::vector<std::pair<std::function<void(Tensors&)>, std::string>> changes{
      {[](Tensors& t) { t.erase(t.begin() + 2); },
       "not the tensors of this model: missing \"h.0.ln_1.weight\"; unknown none"},
      {[](Tensors& t) { t[2].name = "transformer.h.9.ln_1.weight"; },
       "missing \"h.0.ln_1.weight\"; unknown \"h.9.ln_1.weight\""},
      {[](Tensors& t) { t[2].name = "../../etc/passwd"; }, "unknown \"../../etc/passwd\""},
      {[](Tensors& t) { t[2].name = std::string("wte\0\n", 5); }, R"(unknown "wte\u0000\n")"},
      {[](Tensors& t) { t.resize(3); }, " and 19 more; unknown none"},
      {[](Tensors& t) {
         t.push_back({"wte.weight", StoredType::u8, {}, "x"});
       },
       "\"wte.weight\" is there twice, with and without \"transformer.\""},
      {[](Tensors& t) {
         t.push_back({"h.2.attn.bias", StoredType::u8, {}, "x"});
       },
       "unknown \"h.2.attn.bias\""},
      {[](Tensors& t) { std::swap(t[0].shape[0], t[0].shape[1]); },
       "tensor \"wte.weight\": F32 [7, 6] expected, got F32 [6, 7]"},
      {[](Tensors& t) { t[0].type = StoredType::i32; }, "F32 [7, 6] expected, got I32 [7, 6]"},
      {[&](Tensors& t) {
         t.push_back({"lm_head.weight", StoredType::f32, {7, 6}, table});
       },
       "lm_head.weight differs from transformer.wte.weight; this model has one matrix for both"},
      {[&](Tensors& t) {
         t.push_back({"lm_head.weight", StoredType::f32, {6, 7}, table});
       },
       "lm_head.weight differs"},
      {[&](Tensors& t) {
         t[0].shape = {std::int64_t{1} << 60, 0};  // ... rows of nothing
         t[0].bytes.clear();
         t.push_back({"lm_head.weight", StoredType::f32, t[0].shape, ""});
       },
       "F32 [7, 6] expected, got F32 [1152921504606846976, 0]"},
  };
  for (const auto& [change, says] : changes) {
    INFO(says);
    const Exported exported;
    const auto before = values_of(exported.into);
    exported.change(change);
    const std::string message = exported.importing();
    CHECK(message.starts_with("65: " + exported.model.string()));
    CHECK_THAT(message, Catch::Contains(says));
    CHECK(message.find('\n') == message.npos);
    CHECK(values_of(exported.into) == before);
  }
}

TEST_CASE("an export never takes another model's place") {
  const Exported exported;
  const ModelSize other{.L = 1, .D = 6, .H = 3, .T = 5, .V = 7};
  CHECK(failure([&] {
          export_gpt2(exported.directory, other,
                      model_tensors(*exported.machine.device, DType::f32, other, 1));
        }) ==
        "64: " + exported.directory.string() + " holds another model; export to another directory");
  export_gpt2(exported.directory, kSmall,
              model_tensors(*exported.machine.device, DType::f32, kSmall, 3));
  CHECK(exported.importing() == "");
  CHECK(values_of(exported.into) ==
        values_of(model_tensors(*exported.machine.device, DType::f32, kSmall, 3)));
}

TEST_CASE("an export that fails keeps the old one") {
  const Exported exported;
  const auto newer = model_tensors(*exported.machine.device, DType::f32, kSmall, 3);
  std::string message;
  {
    const FileSizeLimit limit(4096);
    message = failure([&] { export_gpt2(exported.directory, kSmall, newer); });
  }
  CHECK(message == "74: cannot write " + exported.model.string() + ": File too large");
  CHECK(exported.importing() == "");
  CHECK(values_of(exported.into) ==
        values_of(model_tensors(*exported.machine.device, DType::f32, kSmall, 1)));
}
