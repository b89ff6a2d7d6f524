// Recomputation changes what is held and how much is computed, and nothing else: bitwise equality,
// and memory and FLOPs against closed forms, for every plan.
//
// Each of these was broken once, and the tests named failed:
//   CheapThenLinear gives x to Linear        "to the last bit", "closed forms"
//   CheapThenLinear visits Linear first      "names"
//   Recomputed keeps what its layer saves    "closed forms", "FLOPs", "unit costs"
//   the second forward gets another input    "to the last bit"
//   forward_again without a Recomputation    "FLOPs"
//   one norm is not joined                   "closed forms"
#include <cmath>
#include <cstring>

#include "lessons/03_checkpointing/checkpointing.h"
#include "lessons/03_checkpointing/recomputed.h"
#include "tests/lessons/01_training_step/support.h"
#include "tests/support/catch.h"

using namespace shardlings;
using namespace shardlings::lesson01;
using namespace shardlings::lesson03;

namespace {

// As kConfigurations, with heads large and small beside the blocks.
const std::vector<Configuration> kWithLargeHeads{
    {{.L = 1, .D = 8, .H = 1, .T = 1, .V = 3}, 1, DType::f32},
    {{.L = 1, .D = 8, .H = 2, .T = 5, .V = 1111}, 2, DType::f64},
    {{.L = 2, .D = 12, .H = 3, .T = 7, .V = 11}, 3, DType::f32},
    {{.L = 5, .D = 15, .H = 5, .T = 9, .V = 29}, 1, DType::f64},
    {{.L = 7, .D = 10, .H = 5, .T = 3, .V = 512}, 4, DType::f32},
    {{.L = 3, .D = 33, .H = 11, .T = 65, .V = 7}, 2, DType::f32},
    {{.L = 8, .D = 24, .H = 8, .T = 16, .V = 61}, 1, DType::f64},
};

// All of them, for a model of L blocks.
std::vector<Plan> plans(std::int64_t L) {
  std::vector<Plan> all;
  for (const bool stored : {false, true}) {
    all.push_back({.stored_scores = stored});
    all.push_back({.stored_scores = stored, .selective = true});
    for (std::int64_t k = 1; k <= L + 1; ++k)
      all.push_back({.stored_scores = stored, .blocks_per_segment = k});
  }
  return all;
}

struct Step {
  Step(const Configuration& c, const Plan& plan, std::string_view kind = "cpu")
      : test(kind, c.dtype, 1),
        model(test.device(), c.dtype, c.size, 1, blocks_with(plan)),
        parameters(model.parameters()),
        optimizer(parameters, 0.1) {
    recompute_segments(model.blocks(), plan);
    make_uneven(parameters);
    for (Parameter* parameter : parameters) {
      parameter->open_gradient();
      parameter->clear_gradient();
    }
  }

  void update() {
    optimizer.step(1e-2);
    for (Parameter* parameter : parameters) parameter->clear_gradient();
  }

  TestDevice test;
  Gpt model;
  Parameters parameters;
  Optimizer optimizer;
};

// Losses, norms and gradients of three steps, the weights after them, and the loss then.
NamedValues train(const Configuration& c, const Plan& plan, std::string_view kind = "cpu") {
  Step step(c, plan, kind);
  NamedValues all;
  for (std::uint64_t i = 0; i < 3; ++i) {
    const GlobalBatch batch = random_batch(c.size, c.B, i);
    all["loss"].push_back(loss_and_gradients(step.model, batch, step.test));
    for (auto& [name, values] : gradients_of(step.parameters))
      all[fmt::format("step {}, gradient of {}", i, name)] = values;
    all["norm"].push_back(clip_gradients(step.parameters, 1));
    step.update();
  }
  all.merge(weights_of(step.parameters));
  all["loss"].push_back(loss_only(step.model, random_batch(c.size, c.B, 9), step.test));
  return all;
}

bool equal_bits(const NamedValues& a, const NamedValues& b) {
  return std::ranges::equal(a, b, [](const auto& one, const auto& other) {
    return one.first == other.first && one.second.size() == other.second.size() &&
           std::memcmp(one.second.data(), other.second.data(),
                       one.second.size() * sizeof(double)) == 0;
  });
}

// ---- closed forms, in elements per token ----

std::int64_t block_elements(const ModelSize& s, const Plan& plan) {
  return 16 * s.D + 4 + s.H + (plan.stored_scores ? s.H * s.T : 0);
}

// The largest stack while backward recomputes, tokens and positions apart.
std::int64_t recomputing_elements(const ModelSize& s, const Plan& plan) {
  const std::int64_t k = plan.blocks_per_segment;
  std::int64_t most = 0;
  for (std::int64_t first = 0; k > 0 && first < s.L; first += k)  // inputs before it, and its own
    most = std::max(most, first / k * s.D + std::min(k, s.L - first) * block_elements(s, plan));
  if (plan.selective && plan.stored_scores)
    most = (s.L - 1) * (16 * s.D + 4) + (2 * s.D + 2) + (4 * s.D + s.H + s.H * s.T);
  if (plan.selective && !plan.stored_scores)
    most = (s.L - 1) * (10 * s.D + s.H) + (6 * s.D + s.H) + 8 * s.D;
  return most;
}

// What forward leaves in the blocks.
std::int64_t held_elements(const ModelSize& s, const Plan& plan) {
  if (const std::int64_t k = plan.blocks_per_segment; k > 0) return (s.L + k - 1) / k * s.D;
  if (!plan.selective) return s.L * block_elements(s, plan);
  return s.L * (plan.stored_scores ? 16 * s.D + 4 : 10 * s.D + s.H);
}

std::int64_t activation_bytes(const Configuration& c, const Plan& plan) {
  const std::int64_t a = bytes_per_element(c.dtype), head = 2 * c.size.D + c.size.V + 4;
  return c.B * c.size.T *
         std::max(a * (held_elements(c.size, plan) + head) + 12,  // tokens, positions, targets
                  a * recomputing_elements(c.size, plan) + 8);
}

std::int64_t recomputed_flops(const Configuration& c, const Plan& plan) {
  const auto [L, D, H, T, V] = c.size;
  const bool full = plan.blocks_per_segment > 0;
  const std::int64_t products = full ? L * 24 * c.B * T * D * D : 0;
  const std::int64_t pairs = full || (plan.selective && plan.stored_scores) ? L : 0;
  return products + pairs * 2 * c.B * T * (T + 1) * D;
}

// y = x. Saves: x.
class UnitLayer : public Layer {
 public:
  Tensor forward(const Tensor& x, SavedTensors& saved) override {
    saved.push(x);
    return clone(x, "unit");
  }
  Tensor backward(const Tensor& d_y, SavedTensors& saved, WeightGradients&) override {
    saved.pop();
    return d_y;
  }
  void visit(const ParameterVisitor&) override {}
};

// The peak, in layers, of n unit layers in segments of k.
std::int64_t unit_peak(std::int64_t n, std::int64_t k) {
  const TestDevice test("cpu", DType::f32, 1);
  Sequential layers;
  for (std::int64_t i = 0; i < n; ++i) layers.layers().push_back(std::make_unique<UnitLayer>());
  recompute_segments(layers, {.blocks_per_segment = k});
  const Tensor x(test.device(), test.dtype, {1}, "x");
  fill(x, 1);
  SavedTensors saved;
  WeightGradients weights;
  layers.forward(x, saved);
  layers.backward(x, saved, weights);
  return test.memory.category_peaks()[Category::activations] / bytes_per_element(test.dtype);
}

}  // namespace

TEST_CASE("every plan trains like the one that recomputes nothing, to the last bit") {
  const std::string kind = GENERATE("cpu", "guarded");
  const DType dtype = GENERATE(DType::f32, DType::f64);
  const Configuration c{{.L = 5, .D = 15, .H = 5, .T = 9, .V = 29}, 3, dtype};
  REQUIRE(random_batch(c.size, c.B, 0).valid_tokens() < 3 * 9);
  for (const bool stored : {false, true}) {
    const NamedValues expected = train(c, {.stored_scores = stored});
    for (const Plan& plan : plans(c.size.L)) {
      CAPTURE(kind, plan.stored_scores, plan.selective, plan.blocks_per_segment);
      if (plan.stored_scores == stored) CHECK(equal_bits(train(c, plan, kind), expected));
    }
  }
}

TEST_CASE("every plan trains like lesson 01") {
  const Configuration c = GENERATE(from_range(kWithLargeHeads));
  if (c.dtype == DType::f32) return;
  const GlobalBatch batch = random_batch(c.size, c.B, 0);
  const TestDevice test("cpu", c.dtype, 1);
  Gpt lesson_01(test.device(), c.dtype, c.size, 1);
  make_uneven(lesson_01.parameters());
  Step nothing_recomputed(c, {});
  CHECK(loss_and_gradients(lesson_01, batch, test) ==
        loss_and_gradients(nothing_recomputed.model, batch, nothing_recomputed.test));
  CHECK(equal_bits(gradients_of(lesson_01.parameters()),
                   gradients_of(nothing_recomputed.parameters)));

  const NamedValues expected = train(c, {});
  for (const Plan& plan : plans(c.size.L)) {
    CAPTURE(c.size.L, plan.stored_scores, plan.selective, plan.blocks_per_segment);
    NamedValues got = train(c, plan), right = expected;
    // The key bias has a true gradient of zero; AdamW turns its rounding noise into whole steps.
    for (NamedValues* values : {&got, &right})
      std::erase_if(*values, [](const auto& named) {
        return named.first.starts_with("h.") && named.first.ends_with("attn.c_attn.bias");
      });
    CHECK(gradient_difference(got, right, 1e-10) == "");
  }
}

TEST_CASE("plans compose: segments of selective blocks, a segment in a segment") {
  const Configuration c{{.L = 5, .D = 15, .H = 5, .T = 9, .V = 29}, 3, DType::f64};
  const NamedValues expected = train(c, {});
  CHECK(equal_bits(train(c, {.selective = true, .blocks_per_segment = 2}), expected));

  const GlobalBatch batch = random_batch(c.size, c.B, 0);
  Step once(c, {.blocks_per_segment = 2}), twice(c, {.blocks_per_segment = 2});
  recompute_segments(twice.model.blocks(), {.blocks_per_segment = 2});
  CHECK(loss_and_gradients(once.model, batch, once.test) ==
        loss_and_gradients(twice.model, batch, twice.test));
  CHECK(equal_bits(gradients_of(once.parameters), gradients_of(twice.parameters)));
  const auto peak = [](const Step& step) {
    return step.test.memory.category_peaks()[Category::activations];
  };
  CHECK(twice.test.work.total().model_flops == once.test.work.total().model_flops);
  CHECK(twice.test.work.total().recomputed_flops > once.test.work.total().recomputed_flops);
  CHECK(peak(twice) == peak(once));  // a segment's input is there once, whoever holds it
}

TEST_CASE("parameters have lesson 01's names, in its order") {
  const Configuration c = kWithLargeHeads[3];
  const auto names = [&](const Plan& plan) {
    std::vector<std::string> result;
    Step step(c, plan);
    for (const Parameter* parameter : step.model.parameters()) result.push_back(parameter->name);
    return result;
  };
  for (const Plan& plan : plans(c.size.L)) CHECK(names(plan) == names({}));
}

TEST_CASE("bytes of activations and of the joint peak equal their closed forms") {
  const Configuration c = GENERATE(from_range(kWithLargeHeads));
  for (const Plan& plan : plans(c.size.L)) {
    CAPTURE(c.size.L, c.size.D, plan.stored_scores, plan.selective, plan.blocks_per_segment);
    Step step(c, plan);
    for (std::uint64_t i = 0; i < 2; ++i) {
      loss_and_gradients(step.model, random_batch(c.size, c.B, i), step.test);
      step.update();
    }
    const MemoryLedger& memory = step.test.memory;
    const std::int64_t model_bytes =
        4 * bytes_per_element(c.dtype) * count_elements(step.parameters);
    CHECK(memory.category_peaks()[Category::activations] == activation_bytes(c, plan));
    CHECK(memory.at_joint_peak().model_and_activations() ==
          model_bytes + activation_bytes(c, plan));
    CHECK(memory.now()[Category::activations] == 0);
    CHECK(memory.now()[Category::workspace] == 0);
  }
}

TEST_CASE("FLOPs: the model's are those of none; what is done again is counted apart") {
  const Configuration c = GENERATE(from_range(kWithLargeHeads));
  const auto work = [&](const Plan& plan) {
    Step step(c, plan);
    loss_and_gradients(step.model, random_batch(c.size, c.B, 1), step.test);
    return step.test.work.total();
  };
  const Work tiled = work({}), stored = work({.stored_scores = true});
  for (const Plan& plan : plans(c.size.L)) {
    CAPTURE(c.size.L, c.size.D, plan.stored_scores, plan.selective, plan.blocks_per_segment);
    Work expected = plan.stored_scores ? stored : tiled;
    expected.recomputed_flops = recomputed_flops(c, plan);
    expected.executed_flops += expected.recomputed_flops;
    CHECK(work(plan) == expected);
  }
}

TEST_CASE("unit costs: segments of sqrt(n) layers need least, 2 sqrt(n) - 1 (Chen et al. 2016)") {
  const std::int64_t root = GENERATE(4, 8, 10);
  const std::int64_t n = root * root;
  CHECK(unit_peak(n, n) == n);
  CHECK(unit_peak(n, 1) == n);
  CHECK(unit_peak(n, root) == 2 * root - 1);
  for (std::int64_t k = 1; k <= n; ++k) CHECK(unit_peak(n, k) >= 2 * root - 1);
}
