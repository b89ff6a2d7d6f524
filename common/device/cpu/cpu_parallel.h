// How CPU kernels share out work and add up.
//
// Work is cut into tasks by shape alone; threads only take tasks. So no result depends on the
// number of threads, to the last bit.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "device/cpu/cpu.h"

namespace shardlings {

// body(task) for 0 <= task < tasks.
template <class Body>
void parallel_for(const Cpu& cpu, std::int64_t tasks, const Body& body) {
  if (tasks == 1 || cpu.threads == 1) {
    for (std::int64_t task = 0; task < tasks; ++task) body(task);
    return;
  }
#pragma omp parallel for num_threads(cpu.threads) schedule(dynamic)
  for (std::int64_t task = 0; task < tasks; ++task) body(task);
}

// The CPU's form of a row kernel's `row`: sums and maxima run in kLanes interleaved parts, which
// vectorise, and the parts are combined in order.
struct CpuRow {
  static constexpr std::int64_t kLanes = 16;

  template <class F>
  void each(std::int64_t n, const F& f) const {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) f(i);
  }

  template <class F>
  auto sum(std::int64_t n, const F& f) const {
    return combine(
        n, f, [](auto a, auto b) { return a + b; }, decltype(f(0)){0});
  }

  template <class F>
  auto max(std::int64_t n, const F& f) const {
    using T = decltype(f(0));
    return combine(
        n, f, [](T a, T b) { return a > b ? a : b; }, -std::numeric_limits<T>::infinity());
  }

 private:
  template <class F, class Combine, class T>
  static T combine(std::int64_t n, const F& f, const Combine& join, T start) {
    std::array<T, kLanes> lanes;
    lanes.fill(start);
    std::int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes)
      for (std::int64_t lane = 0; lane < kLanes; ++lane)
        lanes[lane] = join(lanes[lane], f(i + lane));
    for (std::int64_t lane = 0; i < n; ++i, ++lane) lanes[lane] = join(lanes[lane], f(i));
    T result = start;
    for (const T lane : lanes) result = join(result, lane);
    return result;
  }
};

}  // namespace shardlings
