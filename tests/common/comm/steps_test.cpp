// Collectives as data: what is sent, in how many steps, and in which order sums are formed.
#include "comm/steps.h"

#include <map>
#include <numeric>
#include <string>

#include "comm/timing.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

// Carries the steps of all ranks out at once, on one word per element: which ranks' values it
// holds, in the order in which they were added. Requires: all ranks take the same number of steps.
std::vector<std::vector<std::string>> words_after(const std::vector<Steps>& steps, std::int64_t N) {
  const std::size_t n = steps.size();
  std::vector<std::vector<std::string>> words;
  for (std::size_t r = 0; r < n; ++r)
    words.emplace_back(static_cast<std::size_t>(N), std::string(1, static_cast<char>('a' + r)));
  for (std::size_t i = 0; i < steps[0].size(); ++i) {
    const auto before = words;
    for (std::size_t r = 0; r < n; ++r) {
      const Step& step = steps[r][i];
      const Step& its = steps[static_cast<std::size_t>(step.from)][i];
      REQUIRE(its.to == static_cast<int>(r));
      REQUIRE(its.send == step.receive);
      for (std::int64_t e = step.receive.begin; e < step.receive.begin + step.receive.count; ++e) {
        const auto at = static_cast<std::size_t>(e);
        const std::string& arrived = before[static_cast<std::size_t>(step.from)][at];
        words[r][at] = step.reduce ? arrived + words[r][at] : arrived;
      }
    }
  }
  return words;
}

// The sum of shard s goes around the ring from s + 1 and ends at s.
std::string sum_of_shard(int s, int n) {
  std::string word;
  for (int i = 1; i <= n; ++i) word += static_cast<char>('a' + (s + i) % n);
  return word;
}

template <class StepsOf>
std::vector<Steps> of_all(int n, const StepsOf& steps_of) {
  std::vector<Steps> all;
  for (int r = 0; r < n; ++r) all.push_back(steps_of(r));
  return all;
}

std::vector<std::int64_t> first_ranks(int n) {
  std::vector<std::int64_t> ranks(static_cast<std::size_t>(n));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

// Two nodes of two chips.
const Cluster kTwoNodes{.chips_per_node = 2,
                        .inside = {.name = "f", .latency = 1e-6, .bandwidth = 1e10},
                        .between = {.name = "s", .latency = 1e-5, .bandwidth = 1e8}};

std::int64_t sent(const std::vector<Steps>& all) {
  std::int64_t elements = 0;
  for (const Steps& steps : all)
    for (const Step& step : steps) elements += step.send.count;
  return elements;
}

}  // namespace

TEST_CASE("shards: ceil(N/n) each, while they last") {
  const auto counts = [](std::int64_t N, int n) {
    std::vector<std::int64_t> result;
    std::int64_t next = 0;
    for (int r = 0; r < n; ++r) {
      const Span span = shard(N, n, r);
      CHECK(span.begin == next);
      next += span.count;
      result.push_back(span.count);
    }
    CHECK(next == N);
    return result;
  };
  CHECK(counts(10, 3) == std::vector<std::int64_t>{4, 4, 2});
  CHECK(counts(3, 4) == std::vector<std::int64_t>{1, 1, 1, 0});
  CHECK(counts(9, 4) == std::vector<std::int64_t>{3, 3, 3, 0});
  CHECK(counts(8, 4) == std::vector<std::int64_t>{2, 2, 2, 2});
  CHECK(counts(0, 2) == std::vector<std::int64_t>{0, 0});
}

TEST_CASE(
    "a ring reduce-scatter: n - 1 steps, (n-1) N elements, every shard summed in its own order") {
  for (int n = 1; n <= 5; ++n)
    for (const std::int64_t N : {0, 1, 3, 10, 12}) {
      INFO("n " << n << ", N " << N);
      const auto all = of_all(n, [&](int r) { return ring_reduce_scatter(N, n, r); });
      for (const Steps& steps : all) CHECK(std::ssize(steps) == n - 1);
      CHECK(sent(all) == (n - 1) * N);
      const auto words = words_after(all, N);
      for (int r = 0; r < n; ++r) {
        const Span mine = shard(N, n, r);
        for (std::int64_t e = mine.begin; e < mine.begin + mine.count; ++e)
          CHECK(words[static_cast<std::size_t>(r)][static_cast<std::size_t>(e)] ==
                sum_of_shard(r, n));
      }
    }
}

TEST_CASE("a ring all-gather: n - 1 steps, (n-1) N elements, every shard everywhere") {
  for (int n = 1; n <= 5; ++n)
    for (const std::int64_t N : {0, 1, 3, 10, 12}) {
      INFO("n " << n << ", N " << N);
      const auto all = of_all(n, [&](int r) { return ring_all_gather(N, n, r); });
      for (const Steps& steps : all) CHECK(std::ssize(steps) == n - 1);
      CHECK(sent(all) == (n - 1) * N);
      for (const auto& words : words_after(all, N))
        for (int s = 0; s < n; ++s) {
          const Span span = shard(N, n, s);
          for (std::int64_t e = span.begin; e < span.begin + span.count; ++e)
            CHECK(words[static_cast<std::size_t>(e)] == std::string(1, static_cast<char>('a' + s)));
        }
    }
}

TEST_CASE("a ring all-reduce: 2 (n-1) steps, and the same sums in the same order on all ranks") {
  for (int n = 1; n <= 5; ++n)
    for (const std::int64_t N : {0, 1, 3, 10, 12}) {
      INFO("n " << n << ", N " << N);
      const auto all = of_all(n, [&](int r) { return ring_all_reduce(N, n, r); });
      for (const Steps& steps : all) CHECK(std::ssize(steps) == 2 * (n - 1));
      CHECK(sent(all) == 2 * (n - 1) * N);
      const auto words = words_after(all, N);
      for (const auto& its : words) CHECK(its == words[0]);
      for (int s = 0; s < n; ++s)
        if (const Span span = shard(N, n, s); span.count > 0)
          CHECK(words[0][static_cast<std::size_t>(span.begin)] == sum_of_shard(s, n));
    }
}

TEST_CASE("a chain broadcast: everybody but the last sends the whole, from the root on") {
  for (int n = 1; n <= 4; ++n)
    for (int root = 0; root < n; ++root) {
      const auto all = of_all(n, [&](int r) { return chain_broadcast(7, n, r, root); });
      CHECK(sent(all) == (n - 1) * 7);
      const auto last = static_cast<std::size_t>((root + n - 1) % n);
      if (n > 1) CHECK(all[last] == Steps{{.from = (root + 2 * n - 2) % n, .receive = {0, 7}}});
    }
}

TEST_CASE("times of rings are those of the alpha-beta model") {
  // Thakur, Rabenseifner and Gropp 2005: (n-1) alpha + (n-1)/n beta for half an all-reduce.
  const Link link{.name = "x", .latency = 2e-6, .bandwidth = 1e9};
  const Cluster any{.chips_per_node = 1, .inside = link, .between = link};
  for (int n = 2; n <= 8; ++n) {
    const std::vector<std::int64_t> at = first_ranks(n);
    const std::int64_t N = 840;  // a multiple of all n
    const double bytes = 4.0 * N, half = (n - 1) * (2e-6 + bytes / n / 1e9);
    for (const double end : finish_times(
             of_all(n, [&](int r) { return ring_reduce_scatter(N, n, r); }), 4, 1, any, at))
      CHECK(end == Approx(1 + half).epsilon(1e-12));
    for (const double end :
         finish_times(of_all(n, [&](int r) { return ring_all_gather(N, n, r); }), 4, 1, any, at))
      CHECK(end == Approx(1 + half).epsilon(1e-12));
    for (const double end :
         finish_times(of_all(n, [&](int r) { return ring_all_reduce(N, n, r); }), 4, 0, any, at))
      CHECK(end == Approx(2 * half).epsilon(1e-12));
  }
}

TEST_CASE("a ring is as slow as its slowest link; a chain takes its links one after the other") {
  const std::int64_t N = 4000;
  const auto gather = of_all(4, [&](int r) { return ring_all_gather(N, 4, r); });
  const auto last = [&](const std::vector<std::int64_t>& ranks) {
    return std::ranges::max(finish_times(gather, 1, 0, kTwoNodes, ranks));
  };
  // One of the two ports of each node is idle: the message takes both.
  const auto both_ports = [](double bytes) { return 1e-5 + bytes / 2e8; };
  CHECK(last({0, 1, 2, 3}) == Approx(3 * both_ports(1000)).epsilon(1e-12));
  // Every hop leaves its node: a port for each.
  CHECK(last({0, 2, 1, 3}) == Approx(3 * (1e-5 + 1000 / 1e8)).epsilon(1e-12));
  const auto chain = finish_times(of_all(4, [&](int r) { return chain_broadcast(N, 4, r, 0); }), 1,
                                  0, kTwoNodes, first_ranks(4));
  CHECK(chain[3] == Approx(2 * (1e-6 + N / 1e10) + both_ports(N)).epsilon(1e-12));
}

TEST_CASE("only ranks of the group pool their ports, and a link inside leads to them") {
  const auto time = [](const Cluster& cluster, const std::vector<std::int64_t>& ranks) {
    const int n = static_cast<int>(ranks.size());
    return std::ranges::max(finish_times(
        of_all(n, [&](int r) { return ring_all_gather(4000, n, r); }), 1, 0, cluster, ranks));
  };
  CHECK(time(kTwoNodes, {1, 3}) == Approx(1e-5 + 2000 / 1e8).epsilon(1e-12));
  Cluster narrow = kTwoNodes;
  narrow.inside.bandwidth = 1.5e8;
  CHECK(time(narrow, {0, 1, 2, 3}) == Approx(3 * (1e-5 + 1000 / 1.5e8)).epsilon(1e-12));
  narrow.inside.bandwidth = 0.5e8;  // the link inside is not on the way of a chip's own port
  narrow.inside.latency = 0;
  CHECK(time(narrow, {1, 3}) == Approx(1e-5 + 2000 / 1e8).epsilon(1e-12));
}

TEST_CASE("a message that nobody sends is found") {
  CHECK_THROWS_WITH(
      finish_times({{}, {{.from = 0, .receive = {0, 1}}}}, 4, 0, Cluster{}, first_ranks(2)),
      Catch::Matchers::Contains("rank 1 waits in step 0 for a message that nobody sends"));
}
