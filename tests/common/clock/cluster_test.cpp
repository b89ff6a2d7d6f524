// The clusters that have a name, against what their makers print.
#include "clock/cluster.h"

#include <toml++/toml.h>

#include <set>

#include "base/check.h"
#include "tests/common/storage/failure.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

bool is_as_published(double ours, const std::string& figure) {
  const toml::table figures = toml::parse_file(PUBLISHED_FILE);
  const double value = figures[figure]["value"].value<double>().value();
  const double tolerance = figures[figure]["tolerance"].value<double>().value();
  UNSCOPED_INFO(figure << ": published " << value << ", ours " << ours);
  return std::abs(ours - value) <= tolerance * value;
}

// What all chips of a node send to other nodes, per second.
double node_network(const Cluster& cluster) {
  return static_cast<double>(cluster.chips_per_node) * cluster.between.bandwidth;
}

}  // namespace

TEST_CASE("peaks are dense ones: clock x FMA x 2 x tensor cores") {
  const double a100 = 1410e6 * 256 * 2 * 432, h100 = 1830e6 * 512 * 2 * 528;
  CHECK(is_as_published(a100, "a100_peak_flops"));
  CHECK(is_as_published(h100, "h100_peak_flops"));
  CHECK(is_as_published(cluster_named("dgx-a100").chip.flops, "a100_peak_flops"));
  CHECK(is_as_published(cluster_named("h100x8").chip.flops, "h100_peak_flops"));
  CHECK(is_as_published(cluster_named("h200x8").chip.flops, "h100_peak_flops"));
  const Cluster rack = cluster_named("gb200-nvl72");
  const auto chips = static_cast<double>(rack.chips_per_node);
  CHECK(is_as_published(2 * chips * rack.chip.flops, "gb200_rack_flops"));
  CHECK(cluster_named("laptop").chip.flops == 4 * 3.0e9 * 2 * 8 * 2);
  CHECK(cluster_named("laptop").chip.precision == "f32");
}

TEST_CASE("bandwidths are one way and of one chip") {
  CHECK(is_as_published(2 * cluster_named("dgx-2").inside.bandwidth, "v100_nvlink_both_ways"));
  CHECK(is_as_published(2 * cluster_named("dgx-a100").inside.bandwidth, "a100_nvlink_both_ways"));
  CHECK(is_as_published(2 * cluster_named("h100x8").inside.bandwidth, "h100_nvlink_both_ways"));
  const Cluster rack = cluster_named("gb200-nvl72");
  CHECK(is_as_published(2 * 72 * rack.inside.bandwidth, "gb200_nvlink_both_ways"));
  CHECK(is_as_published(72 * rack.chip.memory_bytes, "gb200_rack_memory_bytes"));
  for (const std::string name : {"h100x8", "h200x8", "b200x8"})
    CHECK(is_as_published(node_network(cluster_named(name)), "dgx_h100_network"));
  CHECK(node_network(cluster_named("h100-ethernet")) == 4 * 200e9 / 8);
  CHECK(is_as_published(node_network(cluster_named("dgx-a100")), "dgx_a100_network"));
  CHECK(is_as_published(node_network(cluster_named("dgx-2")), "dgx2_network"));
}

TEST_CASE("every cluster that is named can be had, and is slower between nodes than inside") {
  const std::vector<std::string> names = cluster_names();
  CHECK(names == std::vector<std::string>{"laptop", "dgx-2", "dgx-a100", "h100x8", "h100-ethernet",
                                          "h200x8", "b200x8", "gb200-nvl72"});
  std::set<std::string> chips;
  for (const std::string& name : names) {
    CAPTURE(name);
    const Cluster cluster = cluster_named(name);
    CHECK(cluster.name == name);
    CHECK(cluster.between.seconds(1e6) >= cluster.inside.seconds(1e6));
    // A lane is that of a class: links that differ must not share one.
    CHECK((cluster.inside == cluster.between) == (cluster.inside.name == cluster.between.name));
    chips.insert(cluster.chip.name);
  }
  CHECK(chips == std::set<std::string>{"laptop", "v100", "a100", "h100", "h200", "b200", "gb200"});
}

TEST_CASE("a link is that inside a node until the node is full") {
  const Cluster cluster = cluster_named("h100x8");
  CHECK(&cluster.link(0, 7) == &cluster.inside);
  CHECK(&cluster.link(7, 8) == &cluster.between);
  CHECK(&cluster.link(8, 7) == &cluster.between);
  CHECK(&cluster.link(8, 15) == &cluster.inside);
  CHECK_THROWS_AS(cluster.link(-1, 0), Error);

  const auto slowest = [&](std::vector<std::int64_t> ranks) {
    return &cluster.slowest_link(ranks);
  };
  CHECK(slowest({3}) == &cluster.inside);
  CHECK(slowest({1, 3, 7}) == &cluster.inside);
  CHECK(slowest({9, 12, 15}) == &cluster.inside);
  CHECK(slowest({1, 3, 8}) == &cluster.between);
  CHECK(slowest({9, 0}) == &cluster.between);
  CHECK_THROWS_AS(slowest({}), Error);
}

TEST_CASE("a misspelt name is answered with the nearest") {
  CHECK(failure([] { cluster_named("h10x8"); }) ==
        "64: there is no cluster \"h10x8\"; did you mean h100x8? there are laptop, dgx-2, "
        "dgx-a100, h100x8, h100-ethernet, h200x8, b200x8, gb200-nvl72, or the path of a .toml "
        "file");
  CHECK(failure([] {
          cluster_named("moon");
        }).starts_with("64: there is no cluster \"moon\"; there are laptop, "));
  CHECK(failure([] { cluster_named("moon.toml"); }) ==
        "66: cannot read moon.toml: No such file or directory");
  CHECK(failure([] { cluster_named("/"); }) == "66: cannot read /: Is a directory");
}
