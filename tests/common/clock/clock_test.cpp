// The modelled clock against what can be said in closed form.
#include "clock/clock.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

// Round numbers, powers of two: sums of them are exact.
const Link kFast{"fast", 0.5, 1024};
const Link kSlow{"slow", 4, 128};
const Cluster kCluster{
    .name = "test",
    .chip = {.name = "chip", .flops = 64, .precision = "f32", .memory_bandwidth = 16},
    .chips_per_node = 4,
    .inside = kFast,
    .between = kSlow};

// n ranks pass `bytes` to the right, each what it just received, `rounds` times; when the last of
// them is done. This is a ring's all-gather or reduce-scatter (n - 1 rounds), or its all-reduce.
double ring_seconds(const Cluster& cluster, int n, int rounds, double bytes) {
  std::vector<Clock> ranks(n, Clock(cluster));
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> arrival(n);
    for (int rank = 0; rank < n; ++rank) {
      const Link& link = cluster.link(rank, (rank + 1) % n);
      arrival[rank] = ranks[rank].earliest_start(link) + link.seconds(bytes);
      ranks[rank].occupy(link, arrival[rank]);
    }
    for (int rank = 0; rank < n; ++rank) {
      const int left = (rank + n - 1) % n;
      const Link& link = cluster.link(left, rank);
      ranks[rank].arrive(link, arrival[left], link.seconds(bytes));
    }
  }
  double end = 0;
  for (const Clock& rank : ranks) end = std::max(end, rank.now());
  return end;
}

}  // namespace

TEST_CASE("a ring takes (n-1) alpha + (n-1)/n S / beta, an all-reduce twice that") {
  const double S = 24 * 4096;
  for (const int n : {2, 3, 4, 8}) {
    Cluster one_node = kCluster;
    one_node.chips_per_node = n;
    const double closed = (n - 1) * kFast.latency + (n - 1.0) / n * S / kFast.bandwidth;
    CAPTURE(n);
    CHECK(ring_seconds(one_node, n, n - 1, S / n) == Approx(closed).epsilon(1e-12));
    CHECK(ring_seconds(one_node, n, 2 * (n - 1), S / n) == Approx(2 * closed).epsilon(1e-12));
  }
}

TEST_CASE("a ring over two nodes goes at the pace of its slowest link") {
  const double S = 24 * 4096;
  const std::vector<std::int64_t> ranks{0, 1, 2, 3, 4, 5, 6, 7};
  const Link& slowest = kCluster.slowest_link(ranks);
  CHECK(ring_seconds(kCluster, 8, 7, S / 8) == Approx(7 * slowest.seconds(S / 8)).epsilon(1e-12));
}

TEST_CASE("work takes the longer of arithmetic and memory") {
  Clock clock(kCluster);
  clock.compute(128, 16);  // 2 s against 1 s
  CHECK(clock.now() == 2);
  clock.compute(64, 48);  // 1 s against 3 s
  CHECK(clock.now() == 5);
  CHECK(clock.spent() == ClockTime{5, 0, 0});
}

TEST_CASE("a late sender: what the transfer takes is exposed, the rest is bubble") {
  Clock clock(kCluster);
  clock.compute(128, 0);
  clock.arrive(kFast, 9, 3);  // idle for 7 s, from 2 to 9; sent at 6
  CHECK(clock.spent() == ClockTime{2, 3, 4});
  CHECK(clock.now() == 9);
}

TEST_CASE("a transfer is exposed only as far as it was not hidden behind work") {
  Clock clock(kCluster);
  clock.compute(256, 0);
  clock.arrive(kFast, 3, 3);  // there before it is needed, at 4
  CHECK(clock.spent() == ClockTime{4, 0, 0});
  clock.arrive(kFast, 4, 4);  // just in time
  CHECK(clock.spent() == ClockTime{4, 0, 0});
  clock.arrive(kFast, 6, 5);  // from 1 to 6; the last two of its seconds are waited for
  CHECK(clock.spent() == ClockTime{4, 2, 0});
}

TEST_CASE("transfers on one class of link follow each other, on two they overlap") {
  Clock clock(kCluster);
  clock.occupy(kFast, clock.earliest_start(kFast) + 8);
  CHECK(clock.earliest_start(kFast) == 8);
  CHECK(clock.earliest_start(kSlow) == 0);
  CHECK(clock.now() == 0);

  const Link same_class{"fast", 0, 1};
  CHECK(clock.earliest_start(same_class) == 8);
  clock.occupy(kFast, 5);  // that of an earlier transfer does not free the lane
  CHECK(clock.earliest_start(kFast) == 8);
  clock.compute(640, 0);  // until 10
  CHECK(clock.earliest_start(kFast) == 10);
}

TEST_CASE("the wait for the slowest rank is bubble, and nobody goes back in time") {
  Clock clock(kCluster);
  clock.compute(64, 0);
  clock.wait_until(4);
  CHECK(clock.spent() == ClockTime{1, 0, 3});
  clock.wait_until(2);
  CHECK(clock.spent() == ClockTime{1, 0, 3});
  CHECK(clock.spent() - ClockTime{1, 0, 1} == ClockTime{0, 0, 2});
}

TEST_CASE("events that go on are one, those of no length none") {
  Clock clock(kCluster);
  clock.record("compute", "h.0", 0, 1);
  clock.record("compute", "h.0", 1, 3);
  clock.record("compute", "h.0", 4, 5);  // after a gap
  clock.record("compute", "h.1", 5, 5);
  clock.record("dp", "h.0", 5, 6);
  clock.record("dp", "all_reduce x", 6, 7);
  const std::vector<ClockEvent> expected{{"compute", "h.0", 0, 3},
                                         {"compute", "h.0", 4, 5},
                                         {"dp", "h.0", 5, 6},
                                         {"dp", "all_reduce x", 6, 7}};
  CHECK(clock.take_events() == expected);
  CHECK(clock.take_events().empty());
}

TEST_CASE("without a cluster nothing takes time") {
  Clock clock;
  const Link& link = clock.cluster().link(0, 5);
  clock.compute(1e15, 1e12);
  const double transfer = link.seconds(1e9);
  clock.occupy(link, clock.earliest_start(link) + transfer);
  clock.arrive(link, clock.earliest_start(link) + transfer, transfer);
  clock.wait_until(clock.now());
  CHECK(clock.now() == 0);
  CHECK(clock.spent() == ClockTime{});
  CHECK(clock.earliest_start(link) == 0);
}

TEST_CASE("what cannot be is refused") {
  Clock clock(kCluster);
  CHECK_THROWS_AS(clock.compute(-1, 0), Error);
  CHECK_THROWS_AS(clock.compute(0, -1), Error);
  CHECK_THROWS_AS(clock.arrive(kFast, 1, -1), Error);
  CHECK_THROWS_AS(clock.arrive(kFast, std::numeric_limits<double>::quiet_NaN(), 1), Error);
  CHECK(clock.spent() == ClockTime{});
}
