// Judges exercise 08: halving_reduce_scatter, doubling_all_gather and folded_all_reduce, by what
// the ranks hold afterwards and by what they sent for it. Ranks are threads, whose messages are
// synchronous: nothing leaves before somebody receives it.
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/random.h"
#include "lessons/08_collectives/exercise.h"
#include "lessons/08_collectives/halving.h"
#include "lessons/08_collectives/ring.h"
#include "tests/support/judge.h"
#include "tests/support/ranks.h"

using namespace shardlings;
using namespace shardlings::lesson08;

namespace {

using Values = std::vector<double>;

constexpr double kNothing = -1;  // where there is no number yet

// Whole numbers, so that any order of adding gives the same sum.
Values numbers_of(int rank, std::int64_t N) {
  const RandomStream random(8, fmt::format("rank {}", rank));
  Values values;
  for (std::int64_t i = 0; i < N; ++i)
    values.push_back(1 + static_cast<double>(random.below(1000, static_cast<std::uint64_t>(i))));
  return values;
}

// Added up from rank `first` to rank end - 1.
Values sum_of(int first, int end, std::int64_t N) {
  Values sum(static_cast<std::size_t>(N));
  for (int rank = first; rank < end; ++rank)
    std::ranges::transform(sum, numbers_of(rank, N), sum.begin(), std::plus<>());
  return sum;
}

Values part(const Values& x, const Span& span) {
  return {x.begin() + span.begin, x.begin() + span.begin + span.count};
}

// `inside` the span, `outside` elsewhere.
Values patched(const Values& outside, const Values& inside, const Span& span) {
  Values x = outside;
  std::copy_n(inside.begin() + span.begin, span.count, x.begin() + span.begin);
  return x;
}

NamedValues list(const Values& values) {
  return {{"", values}};
}

// What a rank holds at the end, and what it sent.
struct Ended {
  Values x;
  double bytes = 0, messages = 0;
};

using Work = std::function<void(const Tensor& x, Communicator& group)>;

// Rank r begins with begins[r].
std::vector<Ended> on_threads(const std::vector<Values>& begins, const Work& work,
                              std::string backend = "cpu") {
  std::vector<Ended> ends(begins.size());
  on_ranks(static_cast<int>(begins.size()), small_world(std::move(backend)), [&](World& world) {
    const auto rank = static_cast<std::size_t>(world.rank());
    const Tensor x(world.device(), DType::f64, {std::ssize(begins[rank])}, "x");
    x.from_doubles(begins[rank]);
    work(x, world.dp());
    ends[rank].x = x.to_doubles();
    for (const auto& [key, count] : world.traffic().total()) {
      ends[rank].bytes += static_cast<double>(count.sent_bytes);
      ends[rank].messages += static_cast<double>(count.messages);
    }
  });
  return ends;
}

std::vector<Values> numbers_of_all(int n, std::int64_t N) {
  std::vector<Values> all;
  for (int rank = 0; rank < n; ++rank) all.push_back(numbers_of(rank, N));
  return all;
}

double log2(int p) {
  return std::bit_width(static_cast<unsigned>(p)) - 1;
}

double total_bytes(const std::vector<Ended>& ends) {
  return std::accumulate(ends.begin(), ends.end(), 0.0,
                         [](double sum, const Ended& end) { return sum + end.bytes; });
}

// ---- step 8.1 ----

// Shards of x that hold the sum over all ranks.
std::vector<int> summed_shards(const Values& x, int p) {
  const auto N = std::ssize(x);
  const Values sum = sum_of(0, p, N);
  std::vector<int> found;
  for (int s = 0; s < p; ++s)
    if (shard(N, p, s).count > 0 && part(x, shard(N, p, s)) == part(sum, shard(N, p, s)))
      found.push_back(s);
  return found;
}

// What rank `rank` of p may hold by mistake, whole; then its shard of it.
Clues clues_of_halving(int rank, int p, std::int64_t N) {
  const Values own = numbers_of(rank, N);
  Values other_half = own;
  for (std::int64_t i = 0; i < N; ++i)
    other_half[static_cast<std::size_t>(i)] += own[static_cast<std::size_t>((i + N / 2) % N)];
  const std::int64_t floor = N / p;
  Clues clues{.equal_to = {{"the rank's own numbers, to which nothing was added", list(own)},
                           {fmt::format("sums in shards of floor(N / p) = {}: the last numbers of "
                                        "x are in none of them",
                                        floor),
                            list(patched(own, sum_of(0, p, N), {rank * floor, floor}))},
                           {"the sum with its own other half, where the partner's numbers belong",
                            list(other_half)}}};
  for (int other = 0; other < p; ++other) {
    if (other == rank) continue;
    const Values its = numbers_of(other, N);
    Values both = own;
    std::ranges::transform(both, its, both.begin(), std::plus<>());
    clues.equal_to.push_back(
        {fmt::format("rank {}'s numbers, in the place of a sum", other), list(its)});
    if (p > 2)
      clues.equal_to.push_back(
          {fmt::format("the sum of two ranks, this one and rank {}", other), list(both)});
  }
  for (Clue& clue : clues.equal_to) clue.values = list(part(clue.values.at(""), shard(N, p, rank)));
  return clues;
}

void judge_halving(Judge& judge, int p, std::int64_t N) {
  judge.now(fmt::format("halving, {} numbers on {} ranks, f64", N, p));
  const std::vector<Ended> ends = on_threads(
      numbers_of_all(p, N),
      [&](const Tensor& x, Communicator& group) { halving_reduce_scatter(x, group, p); });
  const Values sum = sum_of(0, p, N);
  for (int rank = 0; rank < p; ++rank) {
    const Values& x = ends[static_cast<std::size_t>(rank)].x;
    const std::vector<int> summed = summed_shards(x, p);
    const bool elsewhere = summed.size() == 1 && summed.front() != rank && N >= p;
    judge.holds(!elsewhere,
                {.quantity = fmt::format("which shard of rank {} is a sum", rank),
                 .expected = fmt::format("shard {}", rank),
                 .measured = fmt::format("shard {}", elsewhere ? summed.front() : 0),
                 .suggests = "who exchanges with whom decides what is left where: after "
                             "the first step, ranks 0 to p/2 - 1 hold the first half"});
    judge.equal(fmt::format("shard {} of rank {}", rank, rank), list(part(x, shard(N, p, rank))),
                list(part(sum, shard(N, p, rank))), 0, 0, clues_of_halving(rank, p, N));
  }
}

void halving_leaves_the_own_shard(Judge& judge) {
  for (const int p : {2, 4, 8, 1})
    for (const std::int64_t N : {16, 11, 1000, 3, 1}) judge_halving(judge, p, N);
}

void halving_sends_the_rest_once(Judge& judge) {
  for (const int p : {2, 4, 8})
    for (const std::int64_t N : {16, 1003}) {
      judge.now(fmt::format("halving, {} numbers on {} ranks, f64", N, p));
      const std::vector<Ended> ends = on_threads(
          numbers_of_all(p, N),
          [&](const Tensor& x, Communicator& group) { halving_reduce_scatter(x, group, p); });
      const auto in_bytes = [](auto elements) { return list({8 * static_cast<double>(elements)}); };
      for (int rank = 0; rank < p; ++rank) {
        const Ended& end = ends[static_cast<std::size_t>(rank)];
        judge.equal(
            fmt::format("bytes that rank {} sends", rank), end.bytes,
            in_bytes(N - shard(N, p, rank).count).at("").front(), 0,
            {.equal_to = {
                 {"all of x, at every step", in_bytes(static_cast<double>(N) * log2(p))},
                 {"half of x, at every step", in_bytes(static_cast<double>(N) / 2 * log2(p))}}});
        judge.equal(fmt::format("messages that rank {} sends", rank), end.messages, log2(p), 0,
                    {.equal_to = {{"as many as in a ring: the steps are log2(p)",
                                   list({static_cast<double>(p - 1)})}}});
      }
    }
}

// ---- step 8.2 ----

std::vector<Ended> double_up(int p, std::int64_t N, const std::string& backend) {
  std::vector<Values> begins;
  for (int rank = 0; rank < p; ++rank)
    begins.push_back(patched(Values(static_cast<std::size_t>(N), kNothing), numbers_of(0, N),
                             shard(N, p, rank)));
  return on_threads(
      begins, [&](const Tensor& x, Communicator& group) { doubling_all_gather(x, group, p); },
      backend);
}

// Which shards of a rank are all there.
void judge_arrivals(Judge& judge, const Ended& end, int rank, int p) {
  const Values& x = end.x;
  const auto N = std::ssize(x);
  std::vector<std::string> there;
  int filled = 0;
  for (int s = 0; s < p; ++s) {
    const Values values = part(x, shard(N, p, s));
    filled += values.empty() ? 0 : 1;
    if (!values.empty() && std::ranges::find(values, kNothing) == values.end())
      there.push_back(std::to_string(s));
  }
  const std::string text = there.empty() ? "none" : fmt::format("{}", fmt::join(there, ", "));
  const bool own_shard_at_every_step =
      end.bytes == 8 * log2(p) * static_cast<double>(shard(N, p, rank).count);
  judge.holds(std::ssize(there) == filled,
              {.quantity = fmt::format("shards that are there on rank {} of {}", rank, p),
               .expected = fmt::format("all {}", filled),
               .measured = text,
               .suggests = there.size() <= 1 ? "nothing came from other ranks: a phase is missing"
                           : own_shard_at_every_step
                               ? "every rank sent its own shard at every step, and nothing else"
                               : "what was sent had not arrived itself"});
}

void doubling_fills_all_ranks(Judge& judge) {
  for (const char* backend : {"cpu", "guarded"})
    for (const int p : {4, 2, 8, 1})
      for (const std::int64_t N : {16, 11, 1000, 3, 1}) {
        judge.now(fmt::format("doubling, {} numbers on {} ranks, f64, device {}", N, p, backend));
        const std::vector<Ended> ends = double_up(p, N, backend);
        for (int rank = 0; rank < p; ++rank) {
          const Values& x = ends[static_cast<std::size_t>(rank)].x;
          judge_arrivals(judge, ends[static_cast<std::size_t>(rank)], rank, p);
          judge.equal(fmt::format("x on rank {}", rank), list(x), list(numbers_of(0, N)), 0, 0);
        }
      }
}

void doubling_sends_every_shard_once_to_each(Judge& judge) {
  for (const int p : {2, 4, 8})
    for (const std::int64_t N : {16, 1003}) {
      judge.now(fmt::format("doubling, {} numbers on {} ranks, f64", N, p));
      const std::vector<Ended> ends = double_up(p, N, "cpu");
      const double all = 8 * static_cast<double>(N) * p;
      judge.equal("bytes that all ranks send together", total_bytes(ends),
                  8 * static_cast<double>(N) * (p - 1), 0,
                  {.equal_to = {{"all of x, at every step", list({all * log2(p)})},
                                {"half of x, at every step", list({all / 2 * log2(p)})}}});
      for (int rank = 0; rank < p; ++rank)
        judge.equal(fmt::format("messages that rank {} sends", rank),
                    ends[static_cast<std::size_t>(rank)].messages, log2(p), 0,
                    {.equal_to = {{"as many as in a ring", list({static_cast<double>(p - 1)})}}});
    }
}

// ---- both, and step 8.3 ----

// Ranks 0 to n - p - 1 stand for two, and the shards are cut for n where p are summed.
Values with_shards_of_n(int rank, int n, int p, std::int64_t N) {
  Values rest = numbers_of(rank % p, N);
  if (rank % p + p < n)
    std::ranges::transform(rest, numbers_of(rank % p + p, N), rest.begin(), std::plus<>());
  return patched(rest, sum_of(0, n, N), {0, shard(N, n, p).begin});
}

Clues clues_of_all_reduce(int rank, int n, std::int64_t N) {
  const int p = static_cast<int>(std::bit_floor(static_cast<unsigned>(n)));
  Clues clues{
      .letters = {{"n", n}},
      .equal_to = {
          {"the rank's own numbers: nothing came back", list(numbers_of(rank, N))},
          {fmt::format("the sum without ranks {} to {}", p, n - 1), list(sum_of(0, p, N))},
          {"sums in p of n shards: p ranks cut x into p", list(with_shards_of_n(rank, n, p, N))}}};
  for (int other = 0; other < n; ++other)
    clues.differs_by.push_back(
        {fmt::format("what rank {} had", other), list(numbers_of(other, N))});
  return clues;
}

void judge_all_reduce(Judge& judge, int n, std::int64_t N, const char* backend) {
  judge.now(fmt::format("all-reduce of {} numbers on {} ranks, f64, device {}", N, n, backend));
  const std::vector<Ended> ends = on_threads(numbers_of_all(n, N), halving_all_reduce, backend);
  for (int rank = 0; rank < n; ++rank)
    judge.equal(fmt::format("x on rank {}", rank), list(ends[static_cast<std::size_t>(rank)].x),
                list(sum_of(0, n, N)), 0, 0, clues_of_all_reduce(rank, n, N));
}

void sums_on_powers_of_two(Judge& judge) {
  for (const char* backend : {"cpu", "guarded"})
    for (const int n : {1, 2, 4, 8})
      for (const std::int64_t N : {16, 11, 1}) judge_all_reduce(judge, n, N, backend);
}

void sums_on_any_number_of_ranks(Judge& judge) {
  for (const char* backend : {"cpu", "guarded"})
    for (const int n : {3, 5, 6, 7})
      for (const std::int64_t N : {24, 11, 1000, 1}) judge_all_reduce(judge, n, N, backend);
}

void folding_sends_no_more_than_the_ring(Judge& judge) {
  for (const int n : {3, 5, 6, 7}) {
    const std::int64_t N = 1003;
    judge.now(fmt::format("all-reduce of {} numbers on {} ranks, f64", N, n));
    const std::vector<Ended> ends = on_threads(numbers_of_all(n, N), halving_all_reduce);
    const double x = 8.0 * static_cast<double>(N);
    judge.equal("bytes that all ranks send together", total_bytes(ends), 2 * (n - 1) * x, 0,
                {.letters = {{"n", n}}});
    const double busiest = std::ranges::max(ends, {}, &Ended::bytes).bytes;
    judge.holds(busiest <= x + 2 * x, {.quantity = "bytes that the busiest rank sends",
                                       .expected = fmt::format("at most three times x, {}", 3 * x),
                                       .measured = fmt::format("{}", busiest),
                                       .suggests = "one rank stands for more than one other"});
  }
}

}  // namespace

const Exam shardlings::kExam{
    .name = "exercise 08",
    .hint = "./shardlings hint 08",
    .again = "./shardlings check 08",
    .checks = {{"8.1", "after halving, each rank holds the sum of its own shard",
                halving_leaves_the_own_shard},
               {"8.1", "halving sends every other shard once, in log2(p) messages",
                halving_sends_the_rest_once},
               {"8.2", "after doubling, each rank holds all of x", doubling_fills_all_ranks},
               {"8.2", "doubling sends (p-1) x in all, in log2(p) messages",
                doubling_sends_every_shard_once_to_each},
               {"8.2", "both together sum over 1, 2, 4 and 8 ranks", sums_on_powers_of_two},
               {"8.3", "the sum over any number of ranks", sums_on_any_number_of_ranks},
               {"8.3", "other numbers of ranks send 2 (n-1) x in all, as the ring does",
                folding_sends_no_more_than_the_ring}}};
