// Judges exercise 04: backward_scales and step_loss, on counts of tokens and in training.
#include <algorithm>
#include <cmath>

#include "lessons/04_gradient_accumulation/exercise.h"
#include "tests/lessons/04_gradient_accumulation/support.h"
#include "tests/support/judge.h"

using namespace shardlings;
using namespace shardlings::lesson01;
using namespace shardlings::lesson04;

namespace {

constexpr double kTolerance = 1e-12, kGradientTolerance = 1e-10;

NamedValues list(const std::vector<double>& values) {
  return {{"", values}};
}

std::vector<double> filled(std::size_t size, double value) {
  return std::vector<double>(size, value);
}

// ---- step 4.1: on counts ----

// How many sequences a micro-batch has, and how many of its tokens count.
struct Counts {
  std::int64_t sequences, valid;
};

constexpr std::int64_t kT = 10;

std::vector<GlobalBatch> micro_batches_with(const std::vector<Counts>& counts) {
  std::vector<GlobalBatch> result;
  for (const auto& [sequences, valid] : counts) {
    const ModelSize size{.L = 1, .D = 8, .H = 1, .T = kT, .V = 11};
    GlobalBatch micro_batch = random_batch(size, sequences, 1);
    std::ranges::fill(micro_batch.weights_BT, 0);
    std::fill_n(micro_batch.weights_BT.rbegin(), valid, 1.0);
    result.push_back(std::move(micro_batch));
  }
  return result;
}

Clues clues_of_scales(const std::vector<Counts>& counts) {
  const std::size_t M = counts.size();
  std::vector<double> own, own_of_M, own_all, share, so_far;
  double valid = 0, all = 0;
  for (const Counts& c : counts) {
    valid += static_cast<double>(c.valid);
    all += static_cast<double>(c.sequences * kT);
    so_far.push_back(1 / valid);
  }
  for (const Counts& c : counts) {
    own.push_back(1 / static_cast<double>(c.valid));
    own_of_M.push_back(own.back() / static_cast<double>(M));
    own_all.push_back(1 / static_cast<double>(c.sequences * kT));
    share.push_back(static_cast<double>(c.valid) / valid);
  }
  return {.letters = {{"M", static_cast<double>(M)}, {"tokens", valid}},
          .equal_to = {
              {"one over the micro-batch's own valid tokens: their means are added up", list(own)},
              {"what makes a mean of the micro-batches' means", list(own_of_M)},
              {"one over the number of micro-batches", list(filled(M, 1 / static_cast<double>(M)))},
              {"one over all tokens, those that are masked among them", list(filled(M, 1 / all))},
              {"one over the micro-batch's own tokens, masked or not", list(own_all)},
              {"one over the valid tokens of the first micro-batch", list(filled(M, own.front()))},
              {"one over the valid tokens of the last micro-batch", list(filled(M, own.back()))},
              {"one over the tokens that were seen so far", list(so_far)},
              {"the micro-batch's share of the tokens", list(share)},
              {"1 for every micro-batch: a sum where the mean was meant", list(filled(M, 1))}}};
}

void judge_scales(Judge& judge, const std::vector<Counts>& counts) {
  std::string text;
  double tokens = 0;
  for (const Counts& c : counts) {
    text += fmt::format("{}{} of {}", text.empty() ? "" : ", ", c.valid, c.sequences * kT);
    tokens += static_cast<double>(c.valid);
  }
  judge.now("micro-batches in which these tokens count: " + text);
  std::vector<double> scales = backward_scales(micro_batches_with(counts));
  judge.holds(scales.size() == counts.size(),
              {.quantity = "how many factors backward_scales returns",
               .expected = std::to_string(counts.size()),
               .measured = std::to_string(scales.size()),
               .suggests = "there is one for each micro-batch"});
  for (std::size_t m = 0; m < scales.size(); ++m) {
    if (counts[m].valid > 0) continue;
    judge.holds(std::isfinite(scales[m]),
                {.quantity = "the factor of a micro-batch without a valid token",
                 .expected = "a number: any will do, its gradients are 0",
                 .measured = fmt::format("{}", scales[m]),
                 .suggests = "0 times infinity is not a number"});
    scales[m] = 1 / tokens;
  }
  judge.equal("factor", list(scales), list(filled(counts.size(), 1 / tokens)), kTolerance, 0,
              clues_of_scales(counts));
}

void scales_make_a_mean_over_the_step(Judge& judge) {
  judge_scales(judge, {{1, 3}, {1, 6}});
  judge_scales(judge, {{2, 7}, {1, 4}, {3, 22}});
  judge_scales(judge, {{2, 5}, {2, 5}});
  judge_scales(judge, {{4, 13}});
}

void scales_with_an_empty_micro_batch(Judge& judge) {
  judge_scales(judge, {{1, 3}, {1, 0}, {2, 5}});
  judge_scales(judge, {{1, 0}, {1, 0}, {1, 4}});
  judge_scales(judge, {{1, 6}, {1, 0}});
}

// ---- step 4.2: on sums ----

Clues clues_of_loss(const std::vector<LossPart>& parts) {
  const auto M = static_cast<double>(parts.size());
  double sum = 0, tokens = 0, means = 0;
  for (const LossPart& part : parts) {
    sum += part.sum;
    tokens += part.tokens;
    means += part.tokens > 0 ? part.sum / part.tokens : 0;
  }
  return {.letters = {{"M", M}, {"tokens", tokens}},
          .equal_to = {
              {"the mean of the micro-batches' means", list({means / M})},
              {"the sum of the micro-batches' means", list({means})},
              {"the sum of the losses, over the number of micro-batches", list({sum / M})},
              {"the sum of the losses as it is", list({sum})},
              {"the last micro-batch's mean", list({parts.back().sum / parts.back().tokens})},
              {"the first micro-batch's mean", list({parts.front().sum / parts.front().tokens})},
              {"the sum of the losses, over the last micro-batch's tokens",
               list({sum / parts.back().tokens})}}};
}

void judge_loss(Judge& judge, const std::vector<LossPart>& parts) {
  std::string text;
  double sum = 0, tokens = 0;
  for (const LossPart& part : parts) {
    text += fmt::format("{}{} nats over {}", text.empty() ? "" : ", ", part.sum, part.tokens);
    sum += part.sum;
    tokens += part.tokens;
  }
  judge.now("micro-batches with " + text + " tokens");
  judge.equal("the loss of the step", step_loss(parts), sum / tokens, kTolerance,
              clues_of_loss(parts));
}

void loss_is_a_mean_over_the_step(Judge& judge) {
  judge_loss(judge, {{2, 1}, {90, 9}});
  judge_loss(judge, {{1.5, 3}, {7, 2}, {0.25, 1}});
  judge_loss(judge, {{12, 4}, {20, 4}});
  judge_loss(judge, {{33, 11}});
}

void loss_with_an_empty_micro_batch(Judge& judge) {
  judge_loss(judge, {{2, 1}, {0, 0}, {90, 9}});
  judge_loss(judge, {{0, 0}, {5, 2}});
  judge_loss(judge, {{5, 2}, {0, 0}});
}

// ---- both, in training ----

constexpr ModelSize kSize{.L = 2, .D = 12, .H = 3, .T = 7, .V = 11};
constexpr std::int64_t kSequences = 8;

// What each micro-batch adds when it is scaled by its own factor.
NamedValues gradients_with(const std::vector<GlobalBatch>& parts,
                           const std::function<double(const GlobalBatch&)>& scale) {
  const TestDevice test("cpu", DType::f64, 1);
  Gpt model(test.device(), test.dtype, kSize, 1);
  WeightGradients weights;
  for (const GlobalBatch& part : parts) {
    SavedTensors saved;
    model.forward(to_device(part, test.device(), test.dtype), saved);
    model.backward(scale(part), saved, weights);
  }
  return gradients_of(model.parameters());
}

void gradients_are_the_whole_batchs(Judge& judge) {
  const GlobalBatch batch = uneven_batch(kSize, kSequences, 1);
  const double tokens = batch.valid_tokens();
  for (const std::int64_t M : {1, 2, 3, 4, 8}) {
    const std::vector<GlobalBatch> parts = micro_batches(batch, M);
    judge.now(
        fmt::format("L2 D12 H3 T7 V11, f64, {} sequences in {} micro-batches", kSequences, M));
    const TestDevice test("cpu", DType::f64, 1);
    Gpt model(test.device(), test.dtype, kSize, 1);
    accumulate(model, parts);
    const Clues clues{
        .letters = {{"M", static_cast<double>(M)}, {"tokens", tokens}},
        .equal_to = {
            {"the mean of the micro-batches' means",
             gradients_with(parts,
                            [&](const GlobalBatch& part) {
                              return 1 / (static_cast<double>(M) * part.valid_tokens());
                            })},
            {"the last micro-batch's part alone",
             gradients_with({parts.back()}, [&](const GlobalBatch&) { return 1 / tokens; })}}};
    judge.equal("gradient", gradients_of(model.parameters()),
                gradients_with({batch}, [&](const GlobalBatch&) { return 1 / tokens; }),
                kGradientTolerance, 1e-6, clues);
  }
}

struct Training {
  std::vector<double> losses;
  NamedValues weights;
};

// Three steps of gradient descent: unlike AdamW, it shows by which factor gradients are wrong.
Training train(std::int64_t M) {
  const TestDevice test("cpu", DType::f64, 1);
  Gpt model(test.device(), test.dtype, kSize, 1);
  const Parameters parameters = model.parameters();
  Training result;
  for (std::uint64_t step = 0; step < 3; ++step) {
    const GlobalBatch batch = uneven_batch(kSize, kSequences, step);
    result.losses.push_back(M == 0 ? loss_and_gradients(model, batch, test)
                                   : accumulate(model, micro_batches(batch, M)));
    for (Parameter* parameter : parameters) {
      add_scaled(parameter->value, parameter->gradient, -0.5);
      parameter->clear_gradient();
    }
  }
  result.weights = weights_of(parameters);
  return result;
}

void training_is_the_same(Judge& judge) {
  const Training expected = train(0);
  for (const std::int64_t M : {1, 3, 8}) {
    judge.now(fmt::format("three steps of gradient descent, {} sequences in {} micro-batches",
                          kSequences, M));
    const Training measured = train(M);
    judge.equal("loss", {{"the three steps", measured.losses}},
                {{"the three steps", expected.losses}}, kGradientTolerance, 0);
    judge.equal("weight", measured.weights, expected.weights, kGradientTolerance, 1e-3);
  }
}

}  // namespace

const Exam shardlings::kExam{
    .name = "exercise 04",
    .hint = "./shardlings hint 04",
    .again = "./shardlings check 04",
    .checks = {
        {"4.1", "the factors make a mean over all valid tokens of the step",
         scales_make_a_mean_over_the_step},
        {"4.1", "a micro-batch without a valid token does no harm",
         scales_with_an_empty_micro_batch},
        {"4.2", "the loss is the mean over all valid tokens of the step",
         loss_is_a_mean_over_the_step},
        {"4.2", "a micro-batch without a valid token does not change the loss",
         loss_with_an_empty_micro_batch},
        {"4.1", "gradients are those of the whole batch", gradients_are_the_whole_batchs},
        {"4.2", "three steps of training give the same losses and weights", training_is_the_same}}};
