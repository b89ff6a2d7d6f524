// An exam of lesson 11's own code: who reports to the reduction, when, and where its gradients end.
#include <algorithm>

#include "tests/lessons/11_overlap/support.h"
#include "tests/support/judge.h"

using namespace shardlings;
using namespace shardlings::lesson01;
using namespace shardlings::lesson10;
using namespace shardlings::lesson11;

namespace {

const TrainingCase kCase{.size = {.L = 3, .D = 8, .H = 2, .T = 5, .V = 11}, .bucket = 100};
constexpr int kRanks = 2;

// Where the blocks' gradients end among the buckets, the last block first.
std::vector<std::int64_t> ends_of_blocks() {
  const std::int64_t D = kCase.size.D;
  std::vector<std::int64_t> ends;
  for (std::int64_t l = 1; l <= kCase.size.L; ++l)
    ends.push_back(2 * D + l * (12 * D * D + 13 * D));
  return ends;
}

// Buckets that end before those elements, moved by `elements`.
std::vector<double> buckets_before(const std::vector<std::int64_t>& ends, std::int64_t elements) {
  const std::int64_t P = ends.back() + (kCase.size.V + kCase.size.T) * kCase.size.D;
  std::vector<double> counts;
  for (const std::int64_t end : ends) {
    const std::int64_t whole = (end + elements) / kCase.bucket;
    counts.push_back(static_cast<double>(end + elements < P ? whole : whole + 1));  // the last one
  }
  return counts;
}

NamedValues list(const std::vector<double>& values) {
  return {{"", values}};
}

void buckets_begin_in_time(Judge& judge) {
  judge.now("L3 D8 H2 T5 V11, buckets of 100, 2 ranks");
  std::vector<double> started;
  on_ranks(kRanks, small_world(), [&](World& world) {
    const OverlappedReduction* reduction = nullptr;
    Replica replica(world, kCase, {}, [&](std::size_t) {
      if (world.rank() == 0) started.push_back(static_cast<double>(reduction->started()));
    });
    reduction = &replica.reduction;
    replica.run_backward(lesson04::uneven_batch(kCase.size, kCase.sequences, 0));
    replica.reduction.finish();
  });
  const std::vector<std::int64_t> ends = ends_of_blocks();
  const std::int64_t block = ends[1] - ends[0];
  const std::int64_t embedding = (kCase.size.V + kCase.size.T) * kCase.size.D;
  const double all = buckets_before(ends, 0).back();
  judge.equal(
      "buckets begun after block 2, 1 and 0", list(started), list(buckets_before(ends, 0)), 0, 0,
      {.letters = {},
       .equal_to = {
           {"the ends of the layer before: a layer's own elements are left out",
            list(buckets_before(ends, -block))},
           {"ends that are too large by the embedding, whose gradients come last",
            list(buckets_before(ends, embedding))},
           {"all of them after the first layer that backward runs: the ends lie in forward order",
            list(std::vector<double>(started.size(), all))}}});
}

// The right gradients, but 0 where a bucket that ends in a block has some of this block's own.
NamedValues without_own_layer(const NamedValues& right, Parameters parameters) {
  const std::vector<std::int64_t> ends = ends_of_blocks();
  NamedValues values = right;
  std::int64_t element = 0;
  std::ranges::reverse(parameters);
  for (const Parameter* parameter : parameters)
    for (double& value : values[parameter->name]) {
      const auto end = std::ranges::upper_bound(ends, element);
      const bool is_of_a_block = element >= 2 * kCase.size.D && end != ends.end();
      if (is_of_a_block && (element / kCase.bucket + 1) * kCase.bucket <= *end) value = 0;
      element += 1;
    }
  return values;
}

void sums_are_one_devices(Judge& judge) {
  judge.now("L3 D8 H2 T5 V11, f64, 2 ranks; what is under way is NaN until wait()");
  const Poison poison;
  const GlobalBatch batch = lesson04::uneven_batch(kCase.size, kCase.sequences, 0);
  const TestDevice test("cpu", DType::f64, 1);
  Gpt whole(test.device(), DType::f64, kCase.size, 1);
  make_uneven(whole.parameters());
  loss_and_gradients(whole, batch, test);
  const NamedValues right = gradients_of(whole.parameters());
  std::vector<NamedValues> got(kRanks);
  on_ranks(kRanks, small_world(), [&](World& world) {
    Replica replica(world, kCase);
    for (const Tensor& bucket : replica.buckets) fill(bucket, 0);
    replica.add(batch);
    got[static_cast<std::size_t>(world.rank())] = gradients_of(replica.model.parameters());
  });
  for (std::size_t rank = 0; rank < got.size(); ++rank)
    judge.equal(fmt::format("rank {}'s gradient", rank), got[rank], right, 1e-10, 1e-6,
                {.letters = {{"n", kRanks}},
                 .equal_to = {{"sums that lack the gradients of the layer that reported them",
                               without_own_layer(right, whole.parameters())}}});
}

void messages_move_on(Judge& judge) {
  judge.now("one bucket under way, 2 ranks, 30 layers behind it, and nobody waits");
  const std::vector<double> sums = sums_behind_layers(30);
  judge.equal("the bucket when backward ends", list(sums), list(std::vector<double>(10, 3)), 0, 0,
              {.letters = {},
               .equal_to = {{"rank 0's own: nothing arrived while it computed",
                             list(std::vector<double>(10, 1))}}});
}

}  // namespace

const Exam shardlings::kExam{
    .name = "lesson 11",
    .hint = "./shardlings show 11",
    .again = "./shardlings test -R exercise_11.healthy",
    .checks = {
        {"lesson 11", "a bucket begins with the layer that completes it", buckets_begin_in_time},
        {"lesson 11", "gradients are those of one device", sums_are_one_devices},
        {"lesson 11", "messages move on between layers", messages_move_on}}};
