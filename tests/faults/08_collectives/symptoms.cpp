// An exam of lesson 08's own code: ranks that agree on a wrong sum, or that wait for each other.
#include "base/random.h"
#include "lessons/08_collectives/ring.h"
#include "tests/support/judge.h"
#include "tests/support/ranks.h"

using namespace shardlings;
using namespace shardlings::lesson08;

namespace {

using Values = std::vector<double>;

constexpr int kRanks = 4;
constexpr std::int64_t kNumbers = 10;  // in shards of 3, 3, 3 and 1

Values numbers_of(int rank) {
  const RandomStream random(8, fmt::format("rank {}", rank));
  Values values;
  for (std::uint64_t i = 0; i < kNumbers; ++i)
    values.push_back(1 + static_cast<double>(random.below(1000, i)));
  return values;
}

Values sum_of_all() {
  Values sum(kNumbers);
  for (int rank = 0; rank < kRanks; ++rank)
    for (std::size_t i = 0; i < kNumbers; ++i) sum[i] += numbers_of(rank)[i];
  return sum;
}

// One rank's numbers where they belong to shard(rank + offset) of x, 0 elsewhere.
Values in_shards(int offset) {
  Values values(kNumbers);
  for (int rank = 0; rank < kRanks; ++rank) {
    const Span span = shard(kNumbers, kRanks, (rank + offset) % kRanks);
    for (std::int64_t i = span.begin; i < span.begin + span.count; ++i)
      values[static_cast<std::size_t>(i)] = numbers_of(rank)[static_cast<std::size_t>(i)];
  }
  return values;
}

struct Ended {
  Values x;
  double bytes = 0;
};

std::vector<Ended> all_reduced() {
  std::vector<Ended> ends(kRanks);
  on_ranks(kRanks, small_world(), [&](World& world) {
    Ended& end = ends[static_cast<std::size_t>(world.rank())];
    const Tensor x(world.device(), DType::f64, {kNumbers}, "x");
    x.from_doubles(numbers_of(world.rank()));
    all_reduce(x, world.dp());
    end.x = x.to_doubles();
    for (const auto& [key, count] : world.traffic().total())
      end.bytes += static_cast<double>(count.sent_bytes);
  });
  return ends;
}

NamedValues list(const Values& values) {
  return {{"", values}};
}

// What the first phase leaves: of shard s, what ranks s + 1 to `rank` add up to.
Values after_one_phase(int rank) {
  Values x(kNumbers);
  for (int s = 0; s < kRanks; ++s) {
    const Span span = shard(kNumbers, kRanks, s);
    for (int k = 1; k <= 1 + (rank - s - 1 + kRanks) % kRanks; ++k)
      for (std::int64_t i = span.begin; i < span.begin + span.count; ++i)
        x[static_cast<std::size_t>(i)] += numbers_of((s + k) % kRanks)[static_cast<std::size_t>(i)];
  }
  return x;
}

// With the last N mod n numbers still its own.
Values without_tail(int rank) {
  Values x = sum_of_all();
  for (std::size_t i = kNumbers - kNumbers % kRanks; i < kNumbers; ++i) x[i] = numbers_of(rank)[i];
  return x;
}

Clues clues_of_sum(int rank) {
  Clues clues{.equal_to = {{"what the first phase leaves: the other one is missing",
                            list(after_one_phase(rank))},
                           {"the sum but for the last N mod n numbers, which are in no shard",
                            list(without_tail(rank))}}};
  for (int offset = 1; offset < kRanks; ++offset) {
    const Values part = in_shards(offset);
    Values without = sum_of_all();
    for (std::size_t i = 0; i < kNumbers; ++i) without[i] -= part[i];
    clues.equal_to.push_back({fmt::format("3 of 4 contributions: that of the rank {} to the left "
                                          "of each shard's owner was lost",
                                          offset),
                              list(without)});
  }
  return clues;
}

void every_rank_has_the_sum(Judge& judge) {
  judge.now("ring all-reduce of 10 numbers on 4 ranks, f64");
  const std::vector<Ended> ends = all_reduced();
  for (int rank = 0; rank < kRanks; ++rank)
    judge.equal(fmt::format("x on rank {}", rank), list(ends[static_cast<std::size_t>(rank)].x),
                list(sum_of_all()), 0, 0, clues_of_sum(rank));
}

void every_rank_sends_its_share(Judge& judge) {
  judge.now("ring all-reduce of 10 numbers on 4 ranks, f64");
  const std::vector<Ended> ends = all_reduced();
  for (int rank = 0; rank < kRanks; ++rank) {
    const auto others = [](int r) {
      return static_cast<double>(kNumbers - shard(kNumbers, kRanks, r % kRanks).count);
    };
    judge.equal(fmt::format("bytes that rank {} sends", rank),
                ends[static_cast<std::size_t>(rank)].bytes, 8 * (others(rank) + others(rank + 1)),
                0,
                {.equal_to = {{"what a step too many sends: a shard comes back to where it was",
                               list({8 * (others(rank) + kNumbers)})}}});
  }
}

}  // namespace

const Exam shardlings::kExam{
    .name = "lesson 08",
    .hint = "./shardlings show 08",
    .again = "./shardlings test -R exercise_08.healthy",
    .checks = {{"lesson 08", "the ring leaves the sum on every rank", every_rank_has_the_sum},
               {"lesson 08", "nothing is sent that is not needed", every_rank_sends_its_share}}};
