#include "bench/machine.h"

#include <sys/mman.h>

#include <algorithm>
#include <barrier>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "device/math.h"

namespace shardlings {

namespace {

constexpr std::int64_t kArrayBytes = 256 << 20;  // of all threads together

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Every thread calls prepare() once and then, all at the same time, what it returned. The shortest
// of seven times from the first to begin until all were done.
template <class Prepare>
double best_seconds(int threads, const Prepare& prepare) {
  std::barrier all(threads);
  std::vector<double> begins(static_cast<std::size_t>(threads));
  double best = std::numeric_limits<double>::infinity();
  const auto body = [&](double& begin) {
    auto work = prepare();
    for (int repetition = 0; repetition < 20; ++repetition) {
      all.arrive_and_wait();
      begin = now_seconds();
      work();
      all.arrive_and_wait();
      if (&begin == &begins[0])
        best = std::min(best, now_seconds() - *std::ranges::min_element(begins));
    }
  };
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < begins.size(); ++i) others.emplace_back(body, std::ref(begins[i]));
  body(begins[0]);
  return best;
}

// Enough vectors to hide the latency of a multiply-add on two units, and few enough for 16
// registers.
constexpr int kChains = 12;
constexpr std::int64_t kRounds = 2'000'000;

template <class T>
void multiply_add_chains() {
  using Vector [[gnu::vector_size(__BIGGEST_ALIGNMENT__)]] = T;
  volatile T seed = T(1e-3);  // nothing can be computed in advance
  const Vector factor = Vector{} + (1 - seed), term = Vector{} + seed;
  Vector chains[kChains];
  for (int i = 0; i < kChains; ++i) chains[i] = Vector{} + seed * T(i);
  for (std::int64_t round = 0; round < kRounds; ++round)
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) chains[i] = chains[i] * factor + term;
  for (const Vector& chain : chains) seed = chain[0];
}

// In huge pages, as the CPU device keeps its tensors.
std::unique_ptr<float[], decltype(&std::free)> array_of_ones(std::size_t count) {
  constexpr std::size_t kHugePage = 2 << 20;
  const std::size_t bytes = (count * sizeof(float) + kHugePage - 1) / kHugePage * kHugePage;
  void* block = std::aligned_alloc(kHugePage, bytes);
  if (block == nullptr) throw std::bad_alloc();
  madvise(block, bytes, MADV_HUGEPAGE);
  std::fill_n(static_cast<float*>(block), count, 1);
  return {static_cast<float*>(block), std::free};
}

// `move(y, x, count)` over two arrays per thread.
template <class Move>
double array_seconds(int threads, const Move& move) {
  return best_seconds(threads, [&] {
    const std::size_t count = kArrayBytes / sizeof(float) / static_cast<std::size_t>(threads);
    return [&move, count, x = array_of_ones(count), y = array_of_ones(count)] {
      move(y.get(), x.get(), count);
    };
  });
}

}  // namespace

double multiply_add_rate(DType dtype, int threads) {
  return with_real_type(dtype, [&]<class T>(T) {
    const double seconds = best_seconds(threads, [] { return multiply_add_chains<T>; });
    return static_cast<double>(kRounds * kChains * flops_of_a_vector(dtype) * threads) / seconds;
  });
}

std::int64_t flops_of_a_vector(DType dtype) {
  return 2 * __BIGGEST_ALIGNMENT__ / bytes_per_element(dtype);
}

double clock_rate() {
  constexpr int kUnrolled = 64;
  constexpr std::int64_t kTurns = 500'000;
  const double seconds = best_seconds(1, [] {
    return [] {
      volatile std::uint64_t seed = 1;
      const std::uint64_t term = seed;
      std::uint64_t sum = seed;
      for (std::int64_t turn = 0; turn < kTurns; ++turn)
#pragma GCC unroll 64
        for (int i = 0; i < kUnrolled; ++i) {
          sum += term;
          asm("" : "+r"(sum));  // no two additions become one
        }
      seed = sum;
    };
  });
  return static_cast<double>(kTurns * kUnrolled) / seconds;
}

double read_rate(int threads) {
  return kArrayBytes / array_seconds(threads, [](float*, const float* x, std::size_t n) {
           std::uint32_t sum = 0;  // of integers, so that the compiler may vectorise it
           for (std::size_t i = 0; i < n; ++i) sum += std::bit_cast<std::uint32_t>(x[i]);
           asm volatile("" : : "r"(sum));  // somebody wants it
         });
}

double copy_rate(int threads) {
  return 2.0 * kArrayBytes / array_seconds(threads, [](float* y, const float* x, std::size_t n) {
           std::memcpy(y, x, n * sizeof(float));
         });
}

double add_into_rate(int threads) {
  return 3.0 * kArrayBytes / array_seconds(threads, [](float* y, const float* x, std::size_t n) {
#pragma GCC ivdep
           for (std::size_t i = 0; i < n; ++i) y[i] += x[i];
         });
}

double exponential_rate(int threads) {
  constexpr std::size_t kCount = 2048;
  constexpr int kTurns = 2000;
  const double seconds = best_seconds(threads, [] {
    return [x = std::vector<float>(kCount, -1)] {
      for (int turn = 0; turn < kTurns; ++turn) {
        std::uint32_t sum = 0;  // as in read_rate()
        for (std::size_t i = 0; i < kCount; ++i)
          sum += std::bit_cast<std::uint32_t>(fast_exp(x[i]));
        asm volatile("" : : "r"(sum) : "memory");
      }
    };
  });
  return static_cast<double>(kTurns * kCount) * threads / seconds;
}

}  // namespace shardlings
