// How CPU kernels share out work and add up.
//
// Work is cut into tasks by shape alone; threads only take tasks. So no result depends on the
// number of threads, to the last bit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "device/cpu/cpu.h"

namespace shardlings {

// Not inlined, so that a task is compiled once, as plain serial code: inside an OpenMP loop, GCC
// vectorises less.
template <class Body>
[[gnu::noinline]] void run_task(const Body& body, std::int64_t task) {
  body(task);
}

// body(task) for 0 <= task < tasks.
template <class Body>
void parallel_for(const Cpu& cpu, std::int64_t tasks, const Body& body) {
  if (tasks == 1 || cpu.threads == 1) {
    for (std::int64_t task = 0; task < tasks; ++task) run_task(body, task);
    return;
  }
#pragma omp parallel for num_threads(cpu.threads) schedule(dynamic)
  for (std::int64_t task = 0; task < tasks; ++task) run_task(body, task);
}

// The CPU's form of a row kernel's `row`. Sums and maxima run in as many interleaved parts as a
// vector register has elements: their order depends on the compiler's target, not on threads.
// (Inlined by force: GCC vectorises them only where it sees what f does.)
struct CpuRow {
  template <class F>
  void each(std::int64_t n, const F& f) const {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) f(i);
  }

  template <class F>
  [[gnu::always_inline]] auto sum(std::int64_t n, const F& f) const {
    decltype(f(0)) total = 0;
#pragma omp simd reduction(+ : total)
    for (std::int64_t i = 0; i < n; ++i) total += f(i);
    return total;
  }

  template <class F>
  [[gnu::always_inline]] auto max(std::int64_t n, const F& f) const {
    using T = decltype(f(0));
    T largest = -std::numeric_limits<T>::infinity();
#pragma omp simd reduction(max : largest)
    for (std::int64_t i = 0; i < n; ++i) largest = f(i) > largest ? f(i) : largest;
    return largest;
  }
};

}  // namespace shardlings
