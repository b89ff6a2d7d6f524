// Judges exercise 02: log_add_exp and merge, on parts of one softmax and in training.
#include <algorithm>
#include <cmath>

#include "lessons/02_activation_memory/attention_blocks.h"
#include "lessons/02_activation_memory/exercise.h"
#include "lessons/02_activation_memory/plain_attention.h"
#include "tests/lessons/01_training_step/support.h"
#include "tests/support/judge.h"

using namespace shardlings;
using namespace shardlings::lesson01;
using namespace shardlings::lesson02;

namespace {

constexpr double kTolerance = 1e-12;
constexpr double kNothing = -std::numeric_limits<double>::infinity();  // the log of 0
constexpr std::size_t kWidth = 5;

using Values = std::vector<double>;

NamedValues one(double value) {
  return {{"", {value}}};
}

// ---- step 2.1 ----

void judge_log_add_exp(Judge& judge, double a, double b) {
  const double larger = std::max(a, b), beyond = std::exp(std::min(a, b) - larger);
  judge.now(fmt::format("a = {}, b = {}", a, b));
  judge.equal("log(exp(a) + exp(b))", log_add_exp(a, b), larger + std::log1p(beyond), kTolerance,
              {.equal_to = {{"the larger of the two", one(larger)},
                            {"the sum of the two logs", one(a + b)},
                            {"the mean of the two logs", one((a + b) / 2)},
                            {"the log of the mean, not of the sum",
                             one(larger + std::log1p(beyond) - std::log(2))},
                            {"the log of a sum from which the maximum was taken, not put back",
                             one(std::log1p(beyond))}}});
}

void logs_of_sums(Judge& judge) {
  for (const auto& [a, b] : std::vector<std::pair<double, double>>{
           {1, 2.5}, {2.5, 1}, {-3.5, 0.25}, {-2, -7}, {0, 0}, {0.01, -21}, {0, 100}, {100, 0}})
    judge_log_add_exp(judge, a, b);
}

void logs_of_any_size(Judge& judge) {
  for (const auto& [a, b] : std::vector<std::pair<double, double>>{
           {1000, 999}, {999, 1000}, {-1000, -1001}, {5000, -5000}, {-5000, 5000}, {-1e6, -1e6}})
    judge_log_add_exp(judge, a, b);
}

void nothing_is_added(Judge& judge) {
  for (const auto& [a, b] :
       std::vector<std::pair<double, double>>{{kNothing, 3}, {3, kNothing}, {kNothing, -800}}) {
    judge.now(fmt::format("a = {}, b = {}", a, b));
    judge.equal("log(exp(a) + exp(b))", log_add_exp(a, b), std::max(a, b), kTolerance);
  }
  judge.now("a = b = -inf");
  const double log = log_add_exp(kNothing, kNothing);
  judge.holds(log == kNothing,
              {.quantity = "log(exp(a) + exp(b))",
               .expected = "-inf, the log of 0 + 0",
               .measured = fmt::format("{}", log),
               .suggests = std::isnan(log) ? "-inf less -inf is not a number" : ""});
}

// ---- the case: scores and values of some keys ----

struct Keys {
  Values scores;
  std::vector<Values> values;  // kWidth each
};

// Scores around `middle`.
Keys random_keys(std::size_t count, double middle, std::string_view name) {
  const RandomStream random(11, name);
  Keys keys;
  for (std::size_t j = 0; j < count; ++j) {
    keys.scores.push_back(middle + random.normal(100 * j));
    keys.values.emplace_back();
    for (std::size_t i = 0; i < kWidth; ++i)
      keys.values.back().push_back(1 + random.normal(100 * j + 1 + i));
  }
  return keys;
}

Keys both(Keys a, const Keys& b) {
  a.scores.insert(a.scores.end(), b.scores.begin(), b.scores.end());
  a.values.insert(a.values.end(), b.values.begin(), b.values.end());
  return a;
}

// The definition, over all keys at once.
PartialSoftmax softmax_over(const Keys& keys) {
  PartialSoftmax found{.o = Values(kWidth)};
  if (keys.scores.empty()) return found;
  const double largest = *std::ranges::max_element(keys.scores);
  double sum = 0;
  for (const double score : keys.scores) sum += std::exp(score - largest);
  for (std::size_t j = 0; j < keys.scores.size(); ++j)
    for (std::size_t i = 0; i < kWidth; ++i)
      found.o[i] += std::exp(keys.scores[j] - largest) / sum * keys.values[j][i];
  found.log_sum_exp = largest + std::log(sum);
  return found;
}

// ---- what a wrong result may be ----

// x * a + y * b
NamedValues mix(double x, const Values& a, double y, const Values& b) {
  Values result;
  for (std::size_t i = 0; i < a.size(); ++i) result.push_back(x * a[i] + y * b[i]);
  return {{"", result}};
}

Clues clues_of_output(const PartialSoftmax& total, const PartialSoftmax& block) {
  const double t = total.log_sum_exp, b = block.log_sum_exp;
  const double of_total = std::exp(t - std::max(t, b)), of_block = std::exp(b - std::max(t, b));
  const double sum = of_total + of_block;
  return {.equal_to = {{"the mean of the two outputs, whatever their log-sum-exps",
                        mix(0.5, total.o, 0.5, block.o)},
                       {"the two outputs, each with the other's share",
                        mix(of_block / sum, total.o, of_total / sum, block.o)},
                       {"the two outputs with weights that do not add up to 1",
                        mix(of_total, total.o, of_block, block.o)},
                       {"the output so far as it was, with the block's share added",
                        mix(1, total.o, of_block / sum, block.o)},
                       {"the two outputs divided by the sum of the weights twice",
                        mix(of_total / sum / sum, total.o, of_block / sum / sum, block.o)},
                       {"the two outputs with the log-sum-exps themselves as weights",
                        mix(t / (t + b), total.o, b / (t + b), block.o)},
                       {"the sum of the two outputs", mix(1, total.o, 1, block.o)},
                       {"the total's output as it was", mix(1, total.o, 0, block.o)},
                       {"the block's output alone", mix(0, total.o, 1, block.o)}}};
}

Clues clues_of_log(const PartialSoftmax& total, const PartialSoftmax& block) {
  return {.equal_to = {{"the total's log-sum-exp as it was", one(total.log_sum_exp)},
                       {"the block's log-sum-exp alone", one(block.log_sum_exp)}}};
}

// ---- step 2.2 ----

void judge_merge(Judge& judge, const PartialSoftmax& total, const PartialSoftmax& block,
                 const PartialSoftmax& expected) {
  PartialSoftmax merged = total;
  merge(merged, block);
  judge.equal("o", {{"", merged.o}}, {{"", expected.o}}, kTolerance, 0,
              clues_of_output(total, block));
  judge.equal("log_sum_exp", merged.log_sum_exp, expected.log_sum_exp, kTolerance,
              clues_of_log(total, block));
}

void two_parts_become_one(Judge& judge) {
  for (const auto& [left, right] :
       std::vector<std::pair<std::size_t, std::size_t>>{{3, 9}, {9, 3}, {1, 1}, {1, 20}}) {
    const Keys a = random_keys(left, 0.5, "a"), b = random_keys(right, 1, "b");
    judge.now(fmt::format("{} keys and {} keys, scores around 1, outputs of {} elements", left,
                          right, kWidth));
    judge_merge(judge, softmax_over(a), softmax_over(b), softmax_over(both(a, b)));
  }
}

void scores_of_any_size(Judge& judge) {
  for (const auto& [left, right] : std::vector<std::pair<double, double>>{
           {0, 100}, {100, 0}, {1000, 1001}, {-1000, -1001}, {-900, 900}}) {
    const Keys a = random_keys(4, left, "a"), b = random_keys(4, right, "b");
    judge.now(fmt::format("4 keys with scores around {}, 4 with scores around {}", left, right));
    judge_merge(judge, softmax_over(a), softmax_over(b), softmax_over(both(a, b)));
  }
}

void parts_without_keys_change_nothing(Judge& judge) {
  const PartialSoftmax some = softmax_over(random_keys(4, -2, "some")), none = softmax_over({});
  judge.now("a block without keys: log_sum_exp -inf, o 0");
  judge_merge(judge, some, none, some);
  judge.now("a total without keys: log_sum_exp -inf, o 0");
  judge_merge(judge, none, some, some);
  judge.now("neither has keys");
  PartialSoftmax merged = none;
  merge(merged, none);
  judge.equal("o", {{"", merged.o}}, {{"", none.o}}, kTolerance, 0);
  judge.holds(merged.log_sum_exp == kNothing, {.quantity = "log_sum_exp",
                                               .expected = "-inf",
                                               .measured = fmt::format("{}", merged.log_sum_exp)});
}

void order_does_not_matter(Judge& judge) {
  std::vector<PartialSoftmax> parts;
  Keys all;
  for (std::size_t part = 0; part < 6; ++part) {
    const Keys keys = random_keys(part, 7 * static_cast<double>(part % 3), fmt::format("{}", part));
    all = both(all, keys);
    parts.push_back(softmax_over(keys));
  }
  const PartialSoftmax expected = softmax_over(all);
  for (const std::vector<std::size_t>& order :
       {std::vector<std::size_t>{0, 1, 2, 3, 4, 5}, {5, 4, 3, 2, 1, 0}, {3, 0, 5, 1, 4, 2}}) {
    judge.now(fmt::format("six parts of 0 to 5 keys, merged from part {} to part {}", order.front(),
                          order.back()));
    PartialSoftmax total{.o = Values(kWidth)};
    for (const std::size_t part : order) merge(total, parts[part]);
    judge.equal("o", {{"", total.o}}, {{"", expected.o}}, kTolerance, 0);
    judge.equal("log_sum_exp", total.log_sum_exp, expected.log_sum_exp, kTolerance);
  }
}

// ---- both, in training ----

// Output and log-sum-exp of an attention core.
NamedValues attend(Layer& layer, const Tensor& qkv) {
  SavedTensors saved;
  const Tensor y = layer.forward(qkv, saved);
  return {{"log-sum-exp", saved.pop().to_doubles()}, {"output", y.to_doubles()}};
}

void blocks_of_keys_give_attention(Judge& judge) {
  const std::int64_t B = 2, T = 37, H = 3, K = 4;
  for (const auto& [kind, dtype, tolerance] : {std::tuple{"cpu", DType::f64, 1e-10},
                                               {"cpu", DType::f32, 1e-5},
                                               {"guarded", DType::f32, 1e-5}}) {
    const TestDevice test(kind, dtype, 1);
    const Tensor qkv(test.device(), dtype, {B, T, 3 * H * K}, "qkv");
    const RandomStream random(3, "qkv");
    Values values(static_cast<std::size_t>(qkv.elements()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 2 * random.normal(i);
    qkv.from_doubles(values);
    const LayerContext context{test.device(), dtype, "attn"};
    Attention tiled(context, H);
    PlainAttention plain(context, H);
    judge.now(fmt::format("attention over 37 tokens in blocks of 16 keys, {}, device {}",
                          name_of(dtype), kind));
    judge.equal("attention", attend(plain, qkv), attend(tiled, qkv), tolerance, 1);
  }
}

// Weights after three steps of gradient descent, which shows by how much a gradient is off.
NamedValues train(const std::string& scores) {
  const ModelSize size{.L = 2, .D = 12, .H = 3, .T = 21, .V = 11};
  const TestDevice test("cpu", DType::f64, 1);
  Gpt model(test.device(), test.dtype, size, 1, blocks_with(scores));
  const Parameters parameters = model.parameters();
  make_uneven(parameters);
  for (std::uint64_t step = 0; step < 3; ++step) {
    loss_and_gradients(model, random_batch(size, 2, step), test);
    for (Parameter* parameter : parameters) {
      add_scaled(parameter->value, parameter->gradient, -0.1);
      parameter->clear_gradient();
    }
  }
  return weights_of(parameters);
}

void training_is_the_same(Judge& judge) {
  judge.now("L2 D12 H3 T21 V11, f64, three steps of gradient descent, --scores plain");
  judge.equal("weight", train("plain"), train("tiled"), 1e-10, 1e-3);
}

}  // namespace

const Exam shardlings::kExam{
    .name = "exercise 02",
    .hint = "./shardlings hint 02",
    .again = "./shardlings check 02",
    .checks = {{"2.1", "the logs of two sums give the log of their sum", logs_of_sums},
               {"2.1", "no exp overflows", logs_of_any_size},
               {"2.1", "-infinity, the log of 0, adds nothing", nothing_is_added},
               {"2.2", "two parts become what the query finds among both", two_parts_become_one},
               {"2.2", "scores may be of any size", scores_of_any_size},
               {"2.2", "a part without keys changes nothing", parts_without_keys_change_nothing},
               {"2.2", "the order of the parts does not matter", order_does_not_matter},
               {"2.2", "blocks of keys, merged, give the device's attention",
                blocks_of_keys_give_attention},
               {"2.2", "three steps of training give the same weights", training_is_the_same}}};
