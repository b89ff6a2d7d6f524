// Lesson 08 · Collectives: what ranks do together, written over send and receive.
// New        a ring: reduce-scatter, all-gather, and an all-reduce that is both; all-to-all
// Known      a step and its report (01)
// Measured   sent per rank: 2 (n-1)/n of N, where n divides N; messages, and the busiest port
// Run        ./shardlings run 08 -n 4 --cluster h100x8
// Next       lesson 09 asks which wires the messages cross, and what a byte costs on each

#include <array>
#include <cmath>

#include "base/hash.h"
#include "base/random.h"
#include "course/run.h"
#include "lessons/08_collectives/halving.h"  // yours: recursive halving and doubling
#include "lessons/08_collectives/ring.h"     // the four collectives, and the star
#include "tensor/ops.h"

namespace shardlings::lesson08 {

// N numbers on every rank   n ranks

// ---- the mechanism ----
// ring.h, exercise.h and halving.h, in this order.

struct Algorithm {
  std::string_view name;
  void (*all_reduce)(const Tensor& x, Communicator& group);
};

constexpr std::array<Algorithm, 3> kAlgorithms{
    {{"star", star_all_reduce}, {"ring", all_reduce}, {"halving", halving_all_reduce}}};

constexpr std::size_t kRing = 1;  // its place among them

// What an all-reduce gave and took.
struct Sum {
  Tensor sum_N;
  TrafficCount sent;   // by this rank
  double seconds = 0;  // on the modelled clock
};

// This rank's numbers, and what a step makes of them.
struct Numbers {
  Tensor mine_N;
  std::array<Sum, kAlgorithms.size()> sums;
  Tensor blocks;  // of the all-to-all: n times this rank's shard
};

// When all ranks have come this far, on the modelled clock.
double meet(World& world) {
  const double latest = world.all().agree({world.clock().now()}).front();
  world.clock().wait_until(latest);
  return latest;
}

Sum sum_by(const Algorithm& algorithm, const Tensor& mine_N, World& world) {
  const Tensor sum_N = clone(mine_N, algorithm.name);
  const double start = meet(world);
  const TrafficLedger::Rows before = world.traffic().total();
  algorithm.all_reduce(sum_N, world.dp());  // new
  TrafficCount sent;
  for (const auto& [key, count] : world.traffic().since(before)) {
    sent.calls += count.calls;
    sent.messages += count.messages;
    sent.sent_bytes += count.sent_bytes;
  }
  return {sum_N, sent, meet(world) - start};
}

// ---- one step ----

// It trains nothing: the same sum in three ways, and an all-to-all.
void step(Numbers& numbers, World& world) {
  for (std::size_t i = 0; i < kAlgorithms.size(); ++i)
    numbers.sums[i] = sum_by(kAlgorithms[i], numbers.mine_N, world);
  all_to_all(numbers.blocks, numbers.mine_N, world.dp());  // new
}

// ---- what you can believe ----

// Number i of a rank. Any rank can make any other's.
std::vector<double> numbers_of(int rank, const Span& span, const Run& run) {
  const RandomStream random(static_cast<std::uint64_t>(run.options().seed),
                            fmt::format("numbers of rank {}", rank));
  std::vector<double> numbers;
  for (std::int64_t i = span.begin; i < span.begin + span.count; ++i) {
    const double number = random.uniform(static_cast<std::uint64_t>(i)) - 0.5;
    numbers.push_back(run.dtype() == DType::f32 ? static_cast<float>(number) : number);
  }
  return numbers;
}

double largest_difference(const Tensor& got, const std::vector<double>& expected) {
  const std::vector<double> values = got.to_doubles();
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double off = std::abs(values[i] - expected[i]);
    if (off > largest || std::isnan(off)) largest = off;  // NaN stays
  }
  return largest;
}

bool have_equal_bits(const Tensor& x, Communicator& group) {
  const std::vector<double> values = x.to_doubles();
  const std::string_view bits(reinterpret_cast<const char*>(values.data()), 8 * values.size());
  return group.all_equal(hash_of(bits));
}

void verify(const Numbers& numbers, Run& run) {
  World& world = run.world();
  const int n = world.dp().size(), rank = world.dp().rank();
  const std::int64_t N = numbers.mine_N.elements();
  std::vector<double> sum(static_cast<std::size_t>(N)), blocks;  // as a single rank makes them
  for (int r = 0; r < n; ++r) {
    const std::vector<double> its = numbers_of(r, {0, N}, run);
    for (std::size_t i = 0; i < its.size(); ++i) sum[i] += its[i];
    const std::vector<double> block = numbers_of(r, shard(N, n, rank), run);
    blocks.insert(blocks.end(), block.begin(), block.end());
  }

  const double rounding = n * (run.dtype() == DType::f32 ? 1e-6 : 1e-15);
  for (std::size_t i = 0; i < kAlgorithms.size(); ++i) {
    const std::string name(kAlgorithms[i].name);
    check_at_most(run.report(), name + " equals a single rank's sum",
                  largest_difference(numbers.sums[i].sum_N, sum), rounding);
    check_at_most(run.report(), name + " has the same bits on all ranks",
                  have_equal_bits(numbers.sums[i].sum_N, world.all()) ? 0 : 1, 0);
  }
  const Tensor by_common = clone(numbers.mine_N, "common");
  world.all().all_reduce(by_common, "check");
  check_at_most(run.report(), "ring has the bits of common's ring",
                largest_difference(numbers.sums[kRing].sum_N, by_common.to_doubles()), 0);
  check_at_most(run.report(), "all-to-all: every block is where it belongs",
                largest_difference(numbers.blocks, blocks), 0);
}

// What each all-reduce took.
void count_costs(const Numbers& numbers, Run& run) {
  for (std::size_t i = 0; i < kAlgorithms.size(); ++i) {
    const auto count = [&](std::string_view what, std::string unit, double measured) {
      run.count(fmt::format("{} {}", kAlgorithms[i].name, what), std::move(unit), measured);
    };
    const Sum& sum = numbers.sums[i];
    const auto sent_bytes = static_cast<double>(sum.sent.sent_bytes);
    count("steps", "sends", static_cast<double>(sum.sent.calls));
    count("messages", "messages", static_cast<double>(sum.sent.messages));
    count("busiest port", "bytes", run.world().all().max(sent_bytes));
    if (!run.options().cluster.empty()) count("time", "us, modelled", 1e6 * sum.seconds);
  }
}

// ---- the lesson ----

void lesson_main(Run& run) {
  Communicator& dp = run.world().dp();
  const std::int64_t N = run.number("elements");
  const auto tensor = [&](std::int64_t elements, std::string_view owner) {
    return Tensor(run.world().device(), run.dtype(), {elements}, owner);
  };
  Numbers numbers{.mine_N = tensor(N, "numbers"),
                  .sums = {},
                  .blocks = tensor(dp.size() * shard(N, dp.size(), dp.rank()).count, "blocks")};
  numbers.mine_N.from_doubles(numbers_of(dp.rank(), {0, N}, run));
  run.repeat([&] { step(numbers, run.world()); });
  count_costs(numbers, run);
  verify(numbers, run);
}

}  // namespace shardlings::lesson08

int main(int argc, char** argv) {
  return shardlings::run_lesson(
      argc, argv,
      {.number = 8,
       .slug = "collectives",
       .title = "Ring all-reduce: reduce-scatter, then all-gather",
       .defaults = {.steps = 3, .ranks = 4},
       .knobs = {{.name = "elements",
                  .initial = std::int64_t{1'000'003},
                  .help = "N, numbers on every rank",
                  .lowest = 1,
                  .highest = 1'000'000'000,
                  .letter = "N",
                  .judged_with = {std::int64_t{1}, std::int64_t{5}, std::int64_t{1001}}}},
       .axis = shardlings::Axis::dp},
      shardlings::lesson08::lesson_main);
}
