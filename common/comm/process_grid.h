// The ranks of a job as a 4-D array: dp x pp x cp x tp, tp the fastest.
//
// So neighbours in tp, who talk most, have neighbouring ranks and share a node; replicas in dp lie
// farthest apart. [Narayanan et al. 2021, arXiv:2104.04473, section 3]
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/axis.h"

namespace shardlings {

class ProcessGrid {
 public:
  using Sizes = std::array<std::int64_t, kAxes>;

  // Requires: all sizes >= 1. `order` lists the axes from the slowest to the fastest.
  explicit ProcessGrid(const Sizes& sizes, const std::array<Axis, kAxes>& order = kAllAxes);

  std::int64_t size() const;
  std::int64_t size(Axis axis) const { return sizes_[index(axis)]; }

  // Where a rank is on each axis, and back. Requires: a rank of the grid.
  Sizes coordinates(std::int64_t rank) const;
  std::int64_t rank_at(const Sizes& coordinates) const;
  // The ranks that differ from `rank` on this axis alone, and itself, in the order of the axis.
  std::vector<std::int64_t> group(std::int64_t rank, Axis axis) const;
  // All groups of an axis, in the order of their first ranks.
  std::vector<std::vector<std::int64_t>> groups(Axis axis) const;

  // "dp 2 x pp 1 x cp 1 x tp 2, 4 ranks", then a line per group of every axis longer than 1.
  std::string text() const;

 private:
  static std::size_t index(Axis axis) { return static_cast<std::size_t>(axis); }

  Sizes sizes_;
  std::array<Axis, kAxes> order_;
};

}  // namespace shardlings
