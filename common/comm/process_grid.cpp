#include "comm/process_grid.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.h"

namespace shardlings {

ProcessGrid::ProcessGrid(const Sizes& sizes, const std::array<Axis, kAxes>& order)
    : sizes_(sizes), order_(order) {
  for (const Axis axis : kAllAxes) {
    CHECK(size(axis) >= 1, "the {} axis needs at least one rank, got {}", name_of(axis),
          size(axis));
    CHECK(std::ranges::count(order, axis) == 1, "the order of axes names {} {} times",
          name_of(axis), std::ranges::count(order, axis));
  }
}

std::int64_t ProcessGrid::size() const {
  std::int64_t product = 1;
  for (const std::int64_t size : sizes_) product *= size;
  return product;
}

ProcessGrid::Sizes ProcessGrid::coordinates(std::int64_t rank) const {
  CHECK(0 <= rank && rank < size(), "rank {} is not one of {}", rank, size());
  Sizes coordinates{};
  for (std::size_t i = kAxes; i-- > 0;) {
    const std::size_t axis = index(order_[i]);
    coordinates[axis] = rank % sizes_[axis];
    rank /= sizes_[axis];
  }
  return coordinates;
}

std::int64_t ProcessGrid::rank_at(const Sizes& coordinates) const {
  std::int64_t rank = 0;
  for (const Axis axis : order_) {
    const std::int64_t place = coordinates[index(axis)];
    CHECK(0 <= place && place < size(axis), "place {} on the {} axis of {}", place, name_of(axis),
          size(axis));
    rank = rank * size(axis) + place;
  }
  return rank;
}

std::vector<std::int64_t> ProcessGrid::group(std::int64_t rank, Axis axis) const {
  Sizes place = coordinates(rank);
  std::vector<std::int64_t> ranks;
  for (std::int64_t& i = place[index(axis)] = 0; i < size(axis); ++i)
    ranks.push_back(rank_at(place));
  return ranks;
}

std::vector<std::vector<std::int64_t>> ProcessGrid::groups(Axis axis) const {
  std::vector<std::vector<std::int64_t>> groups;
  for (std::int64_t rank = 0; rank < size(); ++rank)
    if (coordinates(rank)[index(axis)] == 0) groups.push_back(group(rank, axis));
  return groups;
}

std::string ProcessGrid::text() const {
  std::string text =
      fmt::format("dp {} x pp {} x cp {} x tp {}, {} rank{}\n", size(Axis::dp), size(Axis::pp),
                  size(Axis::cp), size(Axis::tp), size(), size() == 1 ? "" : "s");
  for (const Axis axis : kAllAxes) {
    if (size(axis) == 1) continue;
    text += fmt::format("  {}:", name_of(axis));
    for (const auto& ranks : groups(axis)) text += fmt::format(" ({})", fmt::join(ranks, " "));
    text += "\n";
  }
  return text;
}

}  // namespace shardlings
