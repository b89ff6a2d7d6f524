// How a GPU's threads share out work: which element, row or part of a row is whose.
//
// Plain index arithmetic for host and device, so that tests run the very same on the CPU, for every
// block and thread that a launch would have. Results depend on none of it: elements and rows are
// independent of each other, and a row's sum is always formed by kLanes lanes in the same order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "device/math.h"

namespace shardlings {

inline constexpr int kThreadsPerBlock = 256;
inline constexpr int kLanes = 32;  // threads of a warp; a row belongs to one warp
inline constexpr int kWarpsPerBlock = kThreadsPerBlock / kLanes;

// Blocks for `count` elements or rows of which a block does `per_block` at a time. Beyond kMost,
// enough for the largest GPUs, every thread takes several.
inline std::int64_t blocks_for(std::int64_t count, std::int64_t per_block) {
  constexpr std::int64_t kMost = 2048;
  return std::min(kMost, (count + per_block - 1) / per_block);
}

// A thread of a launch of `blocks` blocks.
struct Place {
  std::int64_t block, blocks;
  int thread;

  SHARDLINGS_KERNEL int lane() const { return thread % kLanes; }
  SHARDLINGS_KERNEL int warp() const { return thread / kLanes; }
};

// f(first), f(first + step), ... below n.
template <class F>
SHARDLINGS_KERNEL void for_each_step(std::int64_t first, std::int64_t step, std::int64_t n,
                                     const F& f) {
  for (std::int64_t i = first; i < n; i += step) f(i);
}

// A thread's share of kernel(i), 0 <= i < count: neighbours take neighbouring elements, then all go
// on by as many elements as there are threads.
template <class Kernel>
SHARDLINGS_KERNEL void run_elements(const Place& at, std::int64_t count, const Kernel& kernel) {
  for_each_step(at.block * kThreadsPerBlock + at.thread, at.blocks * kThreadsPerBlock, count,
                kernel);
}

// A warp's share of kernel(r, row), 0 <= r < rows. All lanes of a warp come here together.
template <class Kernel, class Row>
SHARDLINGS_KERNEL void run_rows(const Place& at, std::int64_t rows, const Kernel& kernel,
                                const Row& row) {
  for_each_step(at.block * kWarpsPerBlock + at.warp(), at.blocks * kWarpsPerBlock, rows,
                [&](std::int64_t r) { kernel(r, row); });
}

// A lane's share of a row's sum and maximum. The lanes' parts are then combined in a butterfly: in
// steps of 16, 8, 4, 2 and 1, each lane takes in what the lane `partner(lane, step)` has. In the
// end all hold the same, to the last bit.
template <class F>
SHARDLINGS_KERNEL auto lane_sum(int lane, std::int64_t n, const F& f) {
  decltype(f(0)) total = 0;
  for_each_step(lane, kLanes, n, [&](std::int64_t i) { total += f(i); });
  return total;
}

template <class F>
SHARDLINGS_KERNEL auto lane_max(int lane, std::int64_t n, const F& f) {
  using T = decltype(f(0));
  T largest = -std::numeric_limits<T>::infinity();
  for_each_step(lane, kLanes, n, [&](std::int64_t i) {
    const T value = f(i);
    largest = value > largest ? value : largest;
  });
  return largest;
}

SHARDLINGS_KERNEL constexpr int partner(int lane, int step) {
  return lane ^ step;
}

}  // namespace shardlings
