// Judges exercise 11: layer_done and finish, by how often a bucket is reduced, by what the sums
// hold, by when a reduction begins and by who waits for it.
//
// Most of it is a step without a model: layers that add whole numbers to their part of the buckets.
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "base/random.h"
#include "lessons/10_data_parallel/exercise.h"
#include "lessons/10_data_parallel/replicas.h"
#include "lessons/11_overlap/exercise.h"
#include "lessons/11_overlap/overlap.h"
#include "tests/lessons/04_gradient_accumulation/support.h"
#include "tests/support/judge.h"
#include "tests/support/ranks.h"

using namespace shardlings;
using namespace shardlings::lesson11;

namespace {

using Values = std::vector<double>;

// Six buckets, of 10 elements and the last of 7. Layer 2 completes two of them, layer 3 ends where
// one does, layer 4 completes none. What follows layer 4 is complete when backward is over.
constexpr std::int64_t kBucket = 10, kElements = 57;
constexpr std::array<std::int64_t, 4> kLayerEnds{14, 34, 40, 48};
constexpr std::size_t kLayers = kLayerEnds.size(), kBuckets = 6, kInBackward = 4;
constexpr int kRanks = 3;

// From start to wait, a poisoned tensor is NaN, and what is written to it is lost: so an answer
// that is only wrong when ranks are unlucky is wrong every time.
class Poison {
 public:
  explicit Poison(bool poisoned) {
    if (poisoned) ::setenv("SHARDLINGS_POISON", "1", 1);
  }
  ~Poison() { ::unsetenv("SHARDLINGS_POISON"); }
};

// What a layer of this rank adds to the elements from `begin` on, in one pass.
Values gradients(int rank, std::int64_t step, std::int64_t pass, std::int64_t begin,
                 std::int64_t end) {
  const RandomStream random(11, fmt::format("rank {} step {} pass {}", rank, step, pass));
  Values values;
  for (std::int64_t i = begin; i < end; ++i)
    values.push_back(1 + static_cast<double>(random.below(1000, static_cast<std::uint64_t>(i))));
  return values;
}

// Where the part of layer l begins and ends; part kLayers is the embedding's.
std::int64_t begin_of(std::size_t l) {
  return l == 0 ? 0 : kLayerEnds[l - 1];
}
std::int64_t end_of(std::size_t l) {
  return l == kLayers ? kElements : kLayerEnds[l];
}

Span bucket(std::size_t b) {
  const std::int64_t begin = static_cast<std::int64_t>(b) * kBucket;
  return {begin, std::min(kBucket, kElements - begin)};
}

// What one rank did and saw in a step.
struct Seen {
  std::vector<double> started;  // after every layer of every pass
  Values waited;                // seconds of the modelled clock in every layer_done
  double before = 0, calls = 0;
  Values sums;
};

using SeenByStep = std::vector<Seen>;

Seen run_step(World& world, const Tensor& memory, OverlappedReduction& reduction, std::int64_t step,
              std::int64_t M) {
  Seen seen;
  const auto calls = [&] {
    double count = 0;
    for (const auto& [key, traffic] : world.traffic().total())
      count += static_cast<double>(traffic.calls);
    return count;
  };
  const double calls_before = calls();
  fill(memory, 0);
  reduction.begin_step(M);
  seen.before = static_cast<double>(reduction.started());
  for (std::int64_t pass = 0; pass < M; ++pass)
    for (std::size_t l = 0; l <= kLayers; ++l) {
      const std::int64_t begin = begin_of(l), end = end_of(l);
      const Tensor part(world.device(), DType::f64, {end - begin}, "part");
      part.from_doubles(gradients(world.rank(), step, pass, begin, end));
      add_scaled(memory.columns(begin, end), part, 1);
      if (l == kLayers) continue;
      const double now = world.clock().now();
      reduction.layer_done(end);
      seen.waited.push_back(world.clock().now() - now);
      seen.started.push_back(static_cast<double>(reduction.started()));
    }
  reduction.finish();
  seen.calls = calls() - calls_before;
  seen.sums = memory.to_doubles();
  return seen;
}

// Two steps; [rank][step].
std::vector<SeenByStep> run_steps(std::int64_t M, bool poisoned, std::string backend = "cpu") {
  const Poison poison(poisoned);
  std::vector<SeenByStep> seen(kRanks);
  on_ranks(kRanks, small_world(std::move(backend), "laptop"), [&](World& world) {
    const Tensor memory(world.device(), DType::f64, {kElements}, "gradients", Category::gradients);
    std::vector<Tensor> buckets;
    for (std::size_t b = 0; b < kBuckets; ++b)
      buckets.push_back(memory.columns(bucket(b).begin, bucket(b).begin + bucket(b).count));
    OverlappedReduction reduction(buckets, world.dp());
    for (std::int64_t step = 0; step < 2; ++step)
      seen[static_cast<std::size_t>(world.rank())].push_back(
          run_step(world, memory, reduction, step, M));
  });
  return seen;
}

std::string in_passes(std::int64_t M) {
  return fmt::format("{} ranks, 6 buckets, 4 layers and an embedding, {} micro-batch{}", kRanks, M,
                     M == 1 ? "" : "es");
}

// ---- how often ----

std::string why_not_as_often(double calls, std::size_t step, std::int64_t M) {
  if (calls == 0)
    return step == 0 ? "nothing is reduced"
                     : "nothing is reduced in a second step: is something left of the first?";
  if (calls == kInBackward) return "what backward completes only at its end is never reduced";
  if (calls < kBuckets) return "some buckets are never reduced";
  return M == 1 ? "a bucket that is under way is reduced again"
                : "with one micro-batch it was once: now several of them reduce";
}

void every_bucket_once(Judge& judge) {
  for (const std::int64_t M : {1, 5}) {
    judge.now(in_passes(M));
    const std::vector<SeenByStep> seen = run_steps(M, false);
    for (std::size_t step = 0; step < 2; ++step) {
      const double calls = seen[0][step].calls;
      judge.holds(calls == kBuckets, {.quantity = fmt::format("all-reduces of step {}", step + 1),
                                      .expected = "6",
                                      .measured = fmt::format("{}", calls),
                                      .suggests = why_not_as_often(calls, step, M)});
    }
  }
}

// ---- what the sums hold ----

NamedValues list(const Values& values) {
  return {{"", values}};
}

Values part(const Values& values, const Span& span) {
  return {values.begin() + span.begin, values.begin() + span.begin + span.count};
}

// Added up over ranks `first` to `last`: all that has been added to the memory when layer `layer`
// of pass `pass` is done. kLayers: the embedding, so the whole pass.
Values sum_until(int first, int last, std::int64_t step, std::int64_t pass, std::size_t layer) {
  Values sum(kElements, 0);
  for (int rank = first; rank <= last; ++rank)
    for (std::int64_t p = 0; p <= pass; ++p) {
      const std::int64_t end = p < pass ? kElements : end_of(layer);
      const Values its = gradients(rank, step, p, 0, end);
      for (std::size_t i = 0; i < its.size(); ++i) sum[i] += its[i];
    }
  return sum;
}

Clues clues_of_bucket(std::size_t b, int rank, std::int64_t step, std::int64_t M) {
  Clues clues{.letters = {{"n", kRanks}}, .equal_to = {}};
  const auto add = [&](const std::string& meaning, const Values& values) {
    clues.equal_to.push_back({meaning, list(part(values, bucket(b)))});
  };
  add("what no layer has added anything to: it was reduced too early", Values(kElements, 0));
  for (std::int64_t pass = 0; pass < M; ++pass)
    for (std::size_t l = 0; l <= kLayers; ++l)
      if (pass < M - 1 || l < kLayers)
        add(fmt::format("the sum of what was there after layer {} of 4 in micro-batch {} of {}: "
                        "the rest came too late",
                        std::min(l + 1, kLayers), pass + 1, M),
            sum_until(0, kRanks - 1, step, pass, l));
  const Values own = sum_until(rank, rank, step, M - 1, kLayers);
  add("this rank's own gradients: nothing was added up", own);
  for (std::int64_t pass = 0; pass < M - 1; ++pass) {
    Values sum = sum_until(0, kRanks - 1, step, pass, kLayers);
    const Values own_so_far = sum_until(rank, rank, step, pass, kLayers);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += own[i] - own_so_far[i];
    add(fmt::format("the sum of micro-batches 1 to {} of {}, and of the others this rank's own",
                    pass + 1, M),
        sum);
  }
  return clues;
}

void judge_whether_waited_for(Judge& judge, const Values& sums, int rank, std::size_t step) {
  std::vector<std::size_t> unfinished;
  for (std::size_t b = 0; b < kBuckets; ++b)
    if (std::ranges::any_of(part(sums, bucket(b)), [](double x) { return std::isnan(x); }))
      unfinished.push_back(b + 1);
  judge.holds(
      unfinished.empty(),
      {.quantity =
           fmt::format("buckets of rank {} that are NaN after finish(), step {}", rank, step + 1),
       .expected = "none",
       .measured = fmt::format("{} of 6: {}", unfinished.size(), fmt::join(unfinished, ", ")),
       .suggests =
           unfinished.size() == kBuckets
               ? "nothing was waited for; NaN stands for whatever is there until wait()"
               : "only some were waited for; NaN stands for whatever is there until wait()"});
}

void sums_are_complete(Judge& judge) {
  for (const char* backend : {"cpu", "guarded"})
    for (const std::int64_t M : {1, 5}) {
      judge.now(fmt::format("{}, device {}", in_passes(M), backend));
      const std::vector<SeenByStep> seen = run_steps(M, true, backend);
      for (std::size_t step = 0; step < 2; ++step)
        for (int rank = 0; rank < kRanks; ++rank) {
          const Values& sums = seen[static_cast<std::size_t>(rank)][step].sums;
          judge_whether_waited_for(judge, sums, rank, step);
          const auto s = static_cast<std::int64_t>(step);
          const Values right = sum_until(0, kRanks - 1, s, M - 1, kLayers);
          for (std::size_t b = kBuckets; b-- > 0;)
            judge.equal(fmt::format("bucket {} of rank {} in step {}", b + 1, rank, step + 1),
                        list(part(sums, bucket(b))), list(part(right, bucket(b))), 0, 0,
                        clues_of_bucket(b, rank, s, M));
        }
    }
}

// ---- when ----

// Buckets that are complete when this layer of the last pass is done.
double complete_after(std::size_t layer) {
  return static_cast<double>(kLayerEnds[layer] / kBucket);
}

std::string why_not_so_many(const Seen& seen, std::size_t event, double expected) {
  const double before = event == 0 ? 0 : seen.started[event - 1];
  if (seen.started[event] > expected) return "a bucket was begun that is not complete";
  if (std::ranges::max(seen.started) == 0) return "nothing begins before finish()";
  if (expected - before > 1 && seen.started[event] == before + 1)
    return "several buckets became complete at once, and one was begun";
  if (kLayerEnds[event % kLayers] % kBucket == 0)
    return "the bucket that ends where this layer ends was not begun";
  return "a bucket that ends before this layer does was not begun";
}

void begins_when_complete(Judge& judge) {
  for (const std::int64_t M : {1, 3}) {
    judge.now(in_passes(M));
    const std::vector<SeenByStep> seen = run_steps(M, false);
    for (std::size_t step = 0; step < 2; ++step) {
      const Seen& its = seen[0][step];
      judge.equal(fmt::format("reductions under way when step {} begins", step + 1), its.before, 0,
                  0);
      for (std::size_t event = 0; event < its.started.size(); ++event) {
        const auto pass = static_cast<std::int64_t>(event / kLayers);
        const double expected = pass < M - 1 ? 0 : complete_after(event % kLayers);
        judge.holds(
            its.started[event] == expected,
            {.quantity = fmt::format("buckets begun after layer {} of 4 in micro-batch {} of {}",
                                     event % kLayers + 1, pass + 1, M),
             .expected = fmt::format("{}", expected),
             .measured = fmt::format("{}", its.started[event]),
             .suggests = why_not_so_many(its, event, expected)});
      }
    }
  }
}

void nobody_waits_in_backward(Judge& judge) {
  judge.now(in_passes(1) + ", on the modelled clock of laptops");
  const Seen seen = run_steps(1, false)[0][0];
  for (std::size_t l = 0; l < kLayers; ++l)
    judge.holds(
        seen.waited[l] == 0,
        {.quantity = fmt::format("seconds that layer_done takes after layer {}", l + 1),
         .expected = "0",
         .measured = fmt::format("{:.3g}", seen.waited[l]),
         .suggests = l == 0 ? "it waits for what it has just begun: nothing is left to overlap"
                            : "a bucket waits until the one before it has arrived, and backward "
                              "waits with it"});
}

// ---- both, in training ----

constexpr ModelSize kSize{.L = 2, .D = 8, .H = 2, .T = 5, .V = 11};

NamedValues trained(World& world, std::int64_t M, bool overlapped) {
  using namespace lesson10;
  lesson01::Gpt model(world.device(), DType::f64, kSize, 1);
  const lesson01::Parameters parameters = model.parameters();
  const std::vector<Tensor> buckets = make_gradient_buckets(parameters, 300);
  OverlappedReduction reduction(buckets, world.dp());
  if (overlapped) reduce_in_backward(model, reduction, world.dp());
  lesson01::WeightGradients weights;
  for (std::uint64_t step = 0; step < 2; ++step) {
    const GlobalBatch batch = lesson04::uneven_batch(kSize, 8, step);
    if (overlapped) reduction.begin_step(M);
    add_gradients(model, weights, own_samples(batch, world.dp()), M, 1 / batch.valid_tokens());
    overlapped ? reduction.finish() : all_reduce_gradients(buckets, world.dp());
    for (lesson01::Parameter* parameter : parameters) {
      add_scaled(parameter->value, parameter->gradient, -0.5);
      parameter->clear_gradient();
    }
  }
  return lesson01::gradients_of(parameters);
}

void training_is_lesson_10s(Judge& judge) {
  for (const int n : {1, 2, 3})
    for (const std::int64_t M : {1, 2}) {
      judge.now(fmt::format("two steps of a model, {} ranks, {} micro-batches, f64", n, M));
      const Poison poison(true);
      std::vector<NamedValues> got(static_cast<std::size_t>(n)), right = got;
      on_ranks(n, small_world(), [&](World& world) {
        got[static_cast<std::size_t>(world.rank())] = trained(world, M, true);
        right[static_cast<std::size_t>(world.rank())] = trained(world, M, false);
      });
      for (std::size_t rank = 0; rank < got.size(); ++rank)
        judge.equal(fmt::format("rank {}'s gradient", rank), got[rank], right[rank], 0, 0);
    }
}

}  // namespace

const Exam shardlings::kExam{
    .name = "exercise 11",
    .hint = "./shardlings hint 11",
    .again = "./shardlings check 11",
    .checks = {{"11.2", "every bucket is reduced once per step, in every step", every_bucket_once},
               {"11.2", "after finish(), every rank has the sums of all ranks and micro-batches",
                sums_are_complete},
               {"11.1", "a bucket's reduction begins with the layer that completes it",
                begins_when_complete},
               {"11.1", "layer_done never waits", nobody_waits_in_backward},
               {"11.2", "gradients have the bits of lesson 10's", training_is_lesson_10s}}};
