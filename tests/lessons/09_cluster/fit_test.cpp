// What the ping-pong comes to, on times that are made up; host hops; and a file from real ones.
//
// Each of these was broken once, and the test named failed:
//   the two sums of the normal equations exchanged  "a line is found again"
//   points not weighted by their own times          "short messages decide alpha"
//   alpha below zero kept                           "alpha is never below zero"
#include "lessons/09_cluster/fit.h"

#include "clock/cluster_file.h"
#include "lessons/09_cluster/host_hops.h"
#include "lessons/09_cluster/ping_pong.h"
#include "tests/driver/shell.h"
#include "tests/support/catch.h"
#include "tests/support/ranks.h"

using namespace shardlings;
using namespace shardlings::lesson09;

namespace {

std::vector<TimedMessage> timed(const Link& link, const std::vector<double>& off = {}) {
  std::vector<TimedMessage> points;
  for (double bytes = 1024; bytes <= 4 << 20; bytes *= 4)
    points.push_back({bytes, link.seconds(bytes)});
  for (std::size_t i = 0; i < off.size(); ++i) points.at(i).seconds *= 1 + off[i];
  return points;
}

}  // namespace

TEST_CASE("a line is found again: alpha and beta of links from NVLink to Ethernet") {
  for (const std::string name : {"h100x8", "dgx-2", "laptop", "h100-ethernet"})
    for (const Link& link : {cluster_named(name).inside, cluster_named(name).between}) {
      const Link got = fit_link(link.name, timed(link));
      CHECK(got.name == link.name);
      CHECK(got.latency == Approx(link.latency).epsilon(1e-9));
      CHECK(got.bandwidth == Approx(link.bandwidth).epsilon(1e-9));
    }
  const std::vector<TimedMessage> two{{10, 3}, {20, 5}};
  CHECK(fit_link("x", two).latency == Approx(1));
  CHECK(fit_link("x", two).bandwidth == Approx(5));
}

TEST_CASE("short messages decide alpha, long ones beta: noise of both is a share of their time") {
  const Link link{.name = "x", .latency = 10e-6, .bandwidth = 5e9};
  // Four times as noisy as a quiet machine: 2 % of each time, up and down.
  const Link got = fit_link("x", timed(link, {0.02, -0.02, 0.02, -0.02, 0.02, -0.02, 0.02}));
  CHECK(got.latency == Approx(link.latency).epsilon(0.03));
  CHECK(got.bandwidth == Approx(link.bandwidth).epsilon(0.03));
}

TEST_CASE("alpha is never below zero, and there is no beta where length costs nothing") {
  const std::vector<TimedMessage> steep{{1000, 1e-6}, {4000, 8e-6}},
      flat{{1000, 1e-6}, {4000, 1e-6}}, falling{{1000, 2e-6}, {4000, 1e-6}};
  const Link got = fit_link("x", steep);
  CHECK(got.latency == 0);
  CHECK(got.bandwidth > 5e8);
  CHECK(got.bandwidth < 1e9);
  CHECK_THROWS_WITH(fit_link("nvlink", falling),
                    Catch::Matchers::Contains("nvlink: larger messages were not slower"));
  CHECK_THROWS_AS(fit_link("nvlink", flat), Error);
}

TEST_CASE("through the hosts, a message is put down twice on its way") {
  const Link ndr = cluster_named("h100x8").between;
  CHECK(kPcieBytesPerSecond == Approx(63e9).epsilon(1e-3));
  CHECK(message_seconds(ndr, true, 1e6) == Approx(14e-6 + 1e6 / 50e9));
  CHECK(message_seconds(ndr, false, 1e6) == Approx(14e-6 + 1e6 / 50e9 + 2e6 / kPcieBytesPerSecond));
  CHECK(host_memory_bytes(true, 1e6) == 0);
  CHECK(host_memory_bytes(false, 1e6) == 4e6);
  // A port that is faster than PCIe waits for it.
  const Link xdr{.name = "x", .latency = 0, .bandwidth = 100e9};
  CHECK(message_seconds(xdr, true, 1e6) == Approx(1e6 / kPcieBytesPerSecond));
}

TEST_CASE("a ping-pong of real ranks becomes a cluster that a clock can take") {
  Options options = small_world("cpu", "h100x8");
  options.chips_per_node = 2;
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "mine.toml";
  on_ranks(3, options, [&](World& world) { fit_to_file(world, path); });
  const Cluster fitted = read_cluster(path), named = cluster_named("h100x8");
  CHECK(fitted.chip == named.chip);
  CHECK(fitted.chips_per_node == 2);
  CHECK(fitted.inside.name == "inside");
  CHECK(fitted.between.name == "between");
  for (const Link& link : {fitted.inside, fitted.between}) {
    CHECK(link.latency >= 0);
    CHECK(link.bandwidth > 0);
  }
  options.chips_per_node = 4;  // nobody is on another node
  on_ranks(2, options, [&](World& world) { fit_to_file(world, path); });
  CHECK(read_cluster(path).between == named.between);
}
