#include "comm/process_grid.h"

#include "tests/support/catch.h"

using namespace shardlings;

namespace {
using Ranks = std::vector<std::int64_t>;
}

TEST_CASE("tp is the fastest axis, dp the slowest") {
  const ProcessGrid grid({2, 3, 1, 4});
  CHECK(grid.size() == 24);
  CHECK(grid.group(0, Axis::tp) == Ranks{0, 1, 2, 3});
  CHECK(grid.group(0, Axis::pp) == Ranks{0, 4, 8});
  CHECK(grid.group(0, Axis::dp) == Ranks{0, 12});
  CHECK(grid.group(0, Axis::cp) == Ranks{0});
  // The last group of each axis, not only the first.
  CHECK(grid.group(23, Axis::tp) == Ranks{20, 21, 22, 23});
  CHECK(grid.group(23, Axis::pp) == Ranks{15, 19, 23});
  CHECK(grid.group(23, Axis::dp) == Ranks{11, 23});
  CHECK(grid.coordinates(23) == ProcessGrid::Sizes{1, 2, 0, 3});
}

TEST_CASE("ranks and coordinates are two names of one place, in any order of axes") {
  const std::array<Axis, kAxes> orders[] = {kAllAxes, {Axis::tp, Axis::dp, Axis::cp, Axis::pp}};
  for (const auto& order : orders) {
    const ProcessGrid grid({2, 3, 2, 5}, order);
    for (std::int64_t rank = 0; rank < grid.size(); ++rank) {
      CHECK(grid.rank_at(grid.coordinates(rank)) == rank);
      for (const Axis axis : kAllAxes) {
        const Ranks group = grid.group(rank, axis);
        const auto place = grid.coordinates(rank)[static_cast<std::size_t>(axis)];
        CHECK(std::ssize(group) == grid.size(axis));
        CHECK(group[static_cast<std::size_t>(place)] == rank);
      }
    }
  }
  CHECK(ProcessGrid({2, 1, 1, 2}, orders[1]).group(0, Axis::tp) == Ranks{0, 2});
}

TEST_CASE("the groups of an axis hold every rank once") {
  const ProcessGrid grid({2, 2, 1, 3});
  for (const Axis axis : kAllAxes) {
    std::vector<int> seen(12);
    for (const Ranks& group : grid.groups(axis))
      for (const std::int64_t rank : group) ++seen[static_cast<std::size_t>(rank)];
    CHECK(seen == std::vector<int>(12, 1));
  }
}

TEST_CASE("a grid can be printed") {
  CHECK(ProcessGrid({2, 1, 1, 2}).text() ==
        "dp 2 x pp 1 x cp 1 x tp 2, 4 ranks\n  dp: (0 2) (1 3)\n  tp: (0 1) (2 3)\n");
  CHECK(ProcessGrid({1, 1, 1, 1}).text() == "dp 1 x pp 1 x cp 1 x tp 1, 1 rank\n");
}

TEST_CASE("what is no grid is refused") {
  using Catch::Matchers::Contains;
  CHECK_THROWS_WITH(ProcessGrid({1, 0, 1, 1}), Contains("the pp axis needs at least one rank"));
  CHECK_THROWS_WITH(ProcessGrid({1, 1, 1, 1}, {Axis::dp, Axis::dp, Axis::cp, Axis::tp}),
                    Contains("names dp 2 times"));
  CHECK_THROWS_WITH(ProcessGrid({2, 1, 1, 1}).coordinates(2), Contains("rank 2 is not one of 2"));
}
