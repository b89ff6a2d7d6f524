// The three all-reduces on nodes of all sizes: sums, bytes by the class of the link, messages, and
// the time on the modelled clock against its closed form.
//
// Each of these was broken once, and the test named failed:
//   far and near exchanged in ring_order            "a ring visits every rank once"
//   ports of a node not pooled (timing.cpp)         "times are those of alpha and beta"
//   the first level over the whole data             "bytes by the class of the link"
//   no all-gather in the second level               "every order and both levels give the sums"
#include "tensor/ops.h"
#include "tests/lessons/09_cluster/support.h"
#include "tests/support/catch.h"

using namespace shardlings;
using namespace shardlings::lesson09;

namespace {

std::vector<Layout> layouts(std::vector<std::int64_t> sizes) {
  std::vector<Layout> all;
  for (int n = 1; n <= 4; ++n)
    for (int k = 1; k <= n; ++k)
      for (const std::int64_t N : sizes)
        if (n % k == 0) all.push_back({.n = n, .k = k, .N = N});
  return all;
}

std::vector<Ended> run(const Layout& s, const std::string& how) {
  return on_nodes(s, [&](const Tensor& x, World& world) {
    if (how == "two_level")
      two_level(x, world, s.k);
    else
      ring(x, world, s.k, how);
  });
}

void require_sums(const Layout& s, const std::string& how) {
  CAPTURE(s.n, s.k, s.N, s.backend, name_of(s.dtype), how);
  const Numbers expected = sum_of(0, s.n, 1, s.N);
  for (const Ended& end : run(s, how)) REQUIRE(end.x == expected);
}

const Cluster& h100() {
  static const Cluster cluster = cluster_named("h100x8");
  return cluster;
}

}  // namespace

TEST_CASE("a ring visits every rank once, near on its node, far on another with every hop") {
  CHECK(ring_order(8, 4, "near") == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(ring_order(8, 4, "far") == std::vector<int>{0, 4, 1, 5, 2, 6, 3, 7});
  CHECK(ring_order(6, 2, "far") == std::vector<int>{0, 2, 4, 1, 3, 5});
  for (int n = 1; n <= 12; ++n)
    for (int k = 1; k <= n; ++k) {
      if (n % k != 0) continue;
      const int nodes = n / k;
      CAPTURE(n, k);
      CHECK(hops_between_nodes(ring_order(n, k, "near"), k) == (nodes == 1 ? 0 : nodes));
      CHECK(hops_between_nodes(ring_order(n, k, "far"), k) == (nodes == 1 ? 0 : n));
      std::vector<int> far = ring_order(n, k, "far");
      std::ranges::sort(far);
      CHECK(far == ring_order(n, k, "near"));
    }
}

TEST_CASE("nodes are full, but for a single one") {
  CHECK(ranks_per_node(4, 2) == 2);
  CHECK(ranks_per_node(3, 8) == 3);
  CHECK(ranks_per_node(1, 2) == 1);
  CHECK_THROWS_WITH(ranks_per_node(3, 2),
                    Catch::Matchers::Contains("3 ranks do not fill nodes of 2"));
}

TEST_CASE("every order and both levels give the sums of one device, on every rank") {
  for (const Layout& s : layouts({1, 2, 7, 1000}))
    for (const std::string how : {"near", "far", "two_level"}) require_sums(s, how);
  for (const std::string how : {"near", "far", "two_level"}) {
    require_sums({.n = 4, .k = 2, .N = 10, .dtype = DType::f32, .backend = "guarded"}, how);
    require_sums({.n = 3, .k = 3, .N = 7, .backend = "guarded"}, how);
    require_sums({.n = 6, .k = 3, .N = 11}, how);
    require_sums({.n = 8, .k = 2, .N = 5}, how);
  }
}

TEST_CASE("orders of the ring round differently, and no more than that") {
  const Layout s{.n = 4, .k = 2, .N = 1000};
  const auto thirds = [&](const std::string& how) {
    return on_nodes(s, [&](const Tensor& x, World& world) {
      scale(x, 1.0 / 3 + world.rank());
      if (how == "two_level")
        two_level(x, world, s.k);
      else
        ring(x, world, s.k, how);
    });
  };
  const std::vector<Ended> near = thirds("near");
  for (const std::string how : {"far", "two_level"}) {
    const std::vector<Ended> other = thirds(how);
    double largest = 0;
    for (std::size_t i = 0; i < other[0].x.size(); ++i)
      largest = std::max(largest, std::abs(other[0].x[i] / near[0].x[i] - 1));
    CHECK(largest > 0);
    CHECK(largest < 1e-12);
    for (const Ended& end : other) CHECK(end.x == other[0].x);
  }
}

TEST_CASE("bytes by the class of the link, and messages") {
  for (const Layout& s : layouts({12, 1200})) {
    CAPTURE(s.n, s.k, s.N);
    const double n = s.n, k = s.k, nodes = n / k, whole = 8.0 * static_cast<double>(s.N);
    const std::vector<Ended> near = run(s, "near"), far = run(s, "far"), two = run(s, "two_level");
    CHECK(total(near, &Ended::between) == (nodes > 1 ? 2 * (n - 1) / n * nodes * whole : 0));
    CHECK(total(near, &Ended::inside) + total(near, &Ended::between) == 2 * (n - 1) * whole);
    CHECK(total(far, &Ended::inside) == (nodes > 1 ? 0 : 2 * (n - 1) * whole));
    CHECK(total(far, &Ended::between) + total(far, &Ended::inside) == 2 * (n - 1) * whole);
    CHECK(total(two, &Ended::between) == 2 * (nodes - 1) * whole);
    CHECK(total(two, &Ended::inside) == 2 * nodes * (k - 1) * whole);
    for (const Ended& end : two) {
      CHECK(end.between == 2 * (nodes - 1) / nodes * whole / k);
      CHECK(end.messages == 2 * (k - 1) + 2 * (nodes - 1));
    }
    for (const Ended& end : near) CHECK(end.messages == 2 * (n - 1));
  }
}

TEST_CASE("bytes are exact where nothing divides, all ranks together") {
  for (const Layout& s : layouts({5, 7, 11})) {
    CAPTURE(s.n, s.k, s.N);
    const std::vector<Ended> two = run(s, "two_level");
    const double whole = 8.0 * static_cast<double>(s.N);
    CHECK(total(two, &Ended::between) == 2 * (s.n / s.k - 1) * whole);
    CHECK(total(two, &Ended::inside) == 2 * (s.n - s.n / s.k) * whole);
  }
}

TEST_CASE("times are those of alpha and beta, and of the ports that a message has for itself") {
  const Link inside = h100().inside, between = h100().between;
  for (const Layout& s : layouts({12'000})) {
    CAPTURE(s.n, s.k);
    const double n = s.n, k = s.k, nodes = n / k, whole = 8.0 * static_cast<double>(s.N);
    const auto hop = [&](double ports) {
      return nodes == 1 ? inside.seconds(whole / n)
                        : between.latency + whole / n / (ports * between.bandwidth);
    };
    const auto seconds = [&](const std::string& how) { return run(s, how).front().seconds; };
    CHECK(seconds("near") == Approx(2 * (n - 1) * hop(k)).epsilon(1e-12));
    CHECK(seconds("far") == Approx(2 * (n - 1) * hop(1)).epsilon(1e-12));
    CHECK(seconds("two_level") == Approx(2 * (k - 1) * inside.seconds(whole / k) +
                                         2 * (nodes - 1) * between.seconds(whole / n))
                                      .epsilon(1e-12));
  }
}

TEST_CASE("a far ring takes about k times as long as a near one, when messages are large") {
  const Layout s{.n = 4, .k = 2, .N = 3'000'000};  // as the lesson's text has them
  CHECK(1e6 * run(s, "near").front().seconds == Approx(444).epsilon(1e-9));
  CHECK(1e6 * run(s, "far").front().seconds == Approx(804).epsilon(1e-9));
  CHECK(1e6 * run(s, "two_level").front().seconds == Approx(328.1333333).epsilon(1e-9));
}
