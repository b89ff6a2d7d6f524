// An exam of lesson 10's own code: who reads what, what is added up, and what is believed.
#include <algorithm>
#include <cmath>

#include "lessons/10_data_parallel/exercise.h"
#include "lessons/10_data_parallel/replicas.h"
#include "tests/lessons/04_gradient_accumulation/support.h"
#include "tests/support/judge.h"
#include "tests/support/ranks.h"

using namespace shardlings;
using namespace shardlings::lesson01;
using namespace shardlings::lesson10;

namespace {

constexpr ModelSize kSize{.L = 1, .D = 8, .H = 2, .T = 5, .V = 11};
constexpr int kRanks = 3;
constexpr std::int64_t kSequences = 8;

GlobalBatch the_batch() {
  return lesson04::uneven_batch(kSize, kSequences, 1);
}

GlobalBatch samples_of(int rank) {
  const GlobalBatch batch = the_batch();
  return lesson04::sequences_of(batch, rank * kSequences / kRanks,
                                (rank + 1) * kSequences / kRanks);
}

std::vector<double> as_doubles(const std::vector<std::int32_t>& tokens) {
  return {tokens.begin(), tokens.end()};
}

void samples_are_the_batch(Judge& judge) {
  judge.now(fmt::format("{} sequences on {} ranks", kSequences, kRanks));
  std::vector<GlobalBatch> own(kRanks);
  on_ranks(kRanks, small_world(), [&](World& world) {
    own[static_cast<std::size_t>(world.rank())] = own_samples(the_batch(), world.dp());
  });
  const std::vector<double> first = as_doubles(own[0].tokens_BT);
  double sequences = 0;
  std::vector<double> tokens;
  for (const GlobalBatch& part : own) {
    sequences += static_cast<double>(part.sequences);
    const std::vector<double> its = as_doubles(part.tokens_BT);
    tokens.insert(tokens.end(), its.begin(), its.end());
  }
  judge.equal("how many sequences the ranks have together", sequences, kSequences, 0,
              {.letters = {},
               .equal_to = {{"rank 0's samples, on every rank",
                             {{"", {kRanks * static_cast<double>(own[0].sequences)}}}}}});
  judge.equal("token", {{"", tokens}}, {{"", as_doubles(the_batch().tokens_BT)}}, 0, 0);
}

// As lesson 01 finds them, with none of this lesson's code.
NamedValues right_gradients() {
  const TestDevice test("cpu", DType::f64, 1);
  Gpt model(test.device(), DType::f64, kSize, 1);
  loss_and_gradients(model, the_batch(), test);
  return gradients_of(model.parameters());
}

NamedValues own_gradients(const GlobalBatch& part, double scale) {
  const TestDevice test("cpu", DType::f64, 1);
  Gpt model(test.device(), DType::f64, kSize, 1);
  SavedTensors saved;
  WeightGradients weights;
  model.forward(to_device(part, test.device(), DType::f64), saved);
  model.backward(scale, saved, weights);
  return gradients_of(model.parameters());
}

// Of what lies in the buckets, all elements from this one on are this rank's own.
NamedValues own_from(std::int64_t element, const NamedValues& right, const NamedValues& own) {
  const TestDevice test("cpu", DType::f64, 1);
  Gpt model(test.device(), DType::f64, kSize, 1);
  Parameters parameters = model.parameters();
  std::ranges::reverse(parameters);
  NamedValues values = right;
  for (const Parameter* parameter : parameters)
    for (std::size_t i = 0; i < values[parameter->name].size(); ++i)
      if (element-- <= 0) values[parameter->name][i] = own.at(parameter->name)[i];
  return values;
}

NamedValues plus(NamedValues a, const NamedValues& b) {
  for (auto& [name, values] : a)
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += b.at(name)[i];
  return a;
}

void gradients_are_one_devices(Judge& judge) {
  judge.now(fmt::format("{} sequences on {} ranks, f64, buckets of 300", kSequences, kRanks));
  const double scale = 1 / the_batch().valid_tokens();
  std::vector<NamedValues> got(kRanks);
  std::int64_t last = 0;  // where the last bucket begins
  on_ranks(kRanks, small_world(), [&](World& world) {
    Gpt model(world.device(), DType::f64, kSize, 1);
    const std::vector<Tensor> buckets = make_gradient_buckets(model.parameters(), 300);
    if (world.rank() == 0) last = count_elements(model.parameters()) - buckets.back().elements();
    WeightGradients weights;
    add_gradients(model, weights, samples_of(world.rank()), 1, scale);
    all_reduce_gradients(buckets, world.dp());
    got[static_cast<std::size_t>(world.rank())] = gradients_of(model.parameters());
  });
  NamedValues means;
  for (int rank = 0; rank < kRanks; ++rank) {
    const GlobalBatch part = samples_of(rank);
    const NamedValues mean = own_gradients(part, 1 / part.valid_tokens());
    means = rank == 0 ? mean : plus(means, mean);
  }
  for (int rank = 0; rank < kRanks; ++rank)
    judge.equal(fmt::format("rank {}'s gradient", rank), got[static_cast<std::size_t>(rank)],
                right_gradients(), 1e-10, 1e-6,
                {.letters = {{"n", kRanks}},
                 .equal_to = {
                     {"each rank's mean, added up: a mean over its own tokens", means},
                     {"the last bucket has this rank's samples alone",
                      own_from(last, right_gradients(), own_gradients(samples_of(rank), scale))}}});
}

void different_replicas_are_seen(Judge& judge) {
  judge.now("two ranks, whose last weight differs by the last bit");
  bool equal = true;
  on_ranks(2, small_world(), [&](World& world) {
    Gpt model(world.device(), DType::f64, kSize, 1);
    const Parameters parameters = model.parameters();
    if (world.rank() == 1) {
      std::vector<double> values = parameters.back()->value.to_doubles();
      values.back() = std::nextafter(values.back(), 1);
      parameters.back()->value.from_doubles(values);
    }
    const bool its = replicas_are_equal(parameters, world.dp());
    if (world.rank() == 0) equal = its;
  });
  judge.holds(!equal, {.quantity = "what replicas_are_equal says",
                       .expected = "they differ",
                       .measured = "they are equal"});
}

}  // namespace

const Exam shardlings::kExam{
    .name = "lesson 10",
    .hint = "./shardlings hint 10",
    .again = "./shardlings test -R exercise_10.healthy",
    .checks = {
        {"lesson 10", "together, the ranks have exactly the global batch", samples_are_the_batch},
        {"lesson 10", "gradients are those of one device", gradients_are_one_devices},
        {"lesson 10", "replicas that differ are seen", different_replicas_are_seen}}};
