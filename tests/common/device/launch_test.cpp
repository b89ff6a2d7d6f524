// The index logic of GPU launches: nothing left out, nothing twice, whatever the size.
#include "tests/support/emulated_gpu.h"

#include <set>

#include "tests/support/catch.h"

using namespace shardlings;

namespace {

// Sizes below, at and above a lane's, a warp's, a block's and a whole launch's share.
const std::vector<std::int64_t> kCounts{0,   1,   3,    31,   32,   33,     255,
                                        256, 257, 1023, 4095, 4097, 524288, 524289 + 300};

}  // namespace

TEST_CASE("a launch has as many blocks as it needs, up to a limit") {
  CHECK(blocks_for(0, 256) == 0);
  CHECK(blocks_for(1, 256) == 1);
  CHECK(blocks_for(256, 256) == 1);
  CHECK(blocks_for(257, 256) == 2);
  CHECK(blocks_for(std::int64_t{1} << 40, 256) == 2048);
}

TEST_CASE("every element belongs to one thread") {
  for (const bool backwards : {false, true})
    for (const std::int64_t count : kCounts) {
      std::vector<int> visits(static_cast<std::size_t>(count));
      EmulatedLaunches(backwards).elements(
          count, [&](std::int64_t i) { ++visits.at(static_cast<std::size_t>(i)); });
      INFO(count);
      REQUIRE(std::ranges::count(visits, 1) == count);
    }
}

TEST_CASE("neighbouring threads take neighbouring elements") {
  // What one load of a warp touches lies together.
  for (const std::int64_t block : {0, 7})
    for (int thread = 0; thread + 1 < kThreadsPerBlock; ++thread) {
      const auto elements_of = [&](int t) {
        std::vector<std::int64_t> elements;
        run_elements({block, 8, t}, 10000, [&](std::int64_t i) { elements.push_back(i); });
        return elements;
      };
      const auto own = elements_of(thread), next = elements_of(thread + 1);
      for (std::size_t i = 0; i < next.size(); ++i) REQUIRE(own[i] + 1 == next[i]);
    }
}

TEST_CASE("every row belongs to one warp, and every element of it to one lane") {
  for (const std::int64_t rows : {0, 1, 7, 8, 9, 1023, 16384, 16385 + 9})
    for (const std::int64_t columns : {0, 1, 31, 33}) {
      std::vector<int> visits(static_cast<std::size_t>(rows * columns)),
          rows_visited(static_cast<std::size_t>(rows));
      EmulatedLaunches(false).rows(rows, [&](std::int64_t r, const EmulatedWarp& row) {
        ++rows_visited.at(static_cast<std::size_t>(r));
        row.each(columns,
                 [&](std::int64_t i) { ++visits.at(static_cast<std::size_t>(r * columns + i)); });
      });
      INFO(rows << " x " << columns);
      REQUIRE(std::ranges::count(visits, 1) == rows * columns);
      REQUIRE(std::ranges::count(rows_visited, 1) == rows);
    }
}

TEST_CASE("a warp's sums and maxima see every element once") {
  for (const std::int64_t n : {0, 1, 3, 31, 32, 33, 1023}) {
    const EmulatedWarp row{false};
    const auto value = [](std::int64_t i) { return static_cast<double>(i * 7919 % 1024); };
    double sum = 0, largest = -std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i < n; ++i) {
      sum += value(i);  // whole numbers: exact in any order
      largest = std::max(largest, value(i));
    }
    CHECK(row.sum(n, value) == sum);
    CHECK(row.max(n, value) == largest);
    CHECK(EmulatedWarp{true}.sum(n, value) == sum);
  }
}

TEST_CASE("a lane's partners reach all others") {
  for (int lane = 0; lane < kLanes; ++lane) {
    std::set<int> reached{lane};
    for (int step = kLanes / 2; step > 0; step /= 2)
      for (const int from : std::set<int>(reached)) {
        CHECK(partner(partner(from, step), step) == from);
        reached.insert(partner(from, step));
      }
    CHECK(reached.size() == kLanes);
    CHECK(*reached.rbegin() == kLanes - 1);
  }
}
