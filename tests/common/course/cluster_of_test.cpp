// The cluster of a run, and what a hand budget is told about it.
#include "course/hand_budget.h"
#include "course/world.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

Options on_cluster(const std::string& cluster, std::int64_t chips_per_node, std::int64_t ranks) {
  Options options;
  options.size = {.L = 1, .D = 8, .H = 1, .T = 3, .V = 256};
  options.cluster = cluster;
  options.chips_per_node = chips_per_node;
  options.ranks = ranks;
  return options;
}

}  // namespace

TEST_CASE("--chips-per-node changes how many ranks share a node, and nothing else") {
  Cluster expected = cluster_named("h100x8");
  CHECK(cluster_of(on_cluster("h100x8", 0, 4)) == expected);
  expected.chips_per_node = 2;
  CHECK(cluster_of(on_cluster("h100x8", 2, 4)) == expected);
  CHECK(World(on_cluster("h100x8", 2, 1)).clock().cluster() == expected);
}

TEST_CASE("formulas of several ranks know the ranks of a node and both links") {
  const LessonCard card{.number = 9, .slug = "cluster", .axis = Axis::dp};
  const auto letters = [&](std::int64_t chips_per_node, std::int64_t ranks) {
    return letters_of(card, on_cluster("h100x8", chips_per_node, ranks));
  };
  CHECK(letters(2, 4).at("k") == 2);
  CHECK(letters(0, 64).at("k") == 8);
  CHECK(letters(0, 3).at("k") == 3);
  const Values values = letters(2, 4);
  CHECK(values.at("alpha_inside") == 3.4e-6);
  CHECK(values.at("beta_inside") == 450e9);
  CHECK(values.at("alpha_between") == 14e-6);
  CHECK(values.at("beta_between") == 50e9);
  CHECK_FALSE(letters_of(card, on_cluster("", 2, 4)).contains("k"));
  CHECK_FALSE(letters_of({.number = 1, .slug = "x"}, on_cluster("h100x8", 2, 1)).contains("k"));
}
