// A GPU's launches on the CPU: every block, warp, lane and thread of a launch, one after the other,
// by the same index logic and the same kernels. What a GPU leaves to chance is under control here:
//
//   threads run in any order        forwards or backwards, as asked for
//   shared memory holds anything    NaN, and what lies behind it is watched
//   scratch memory holds anything   NaN
//
// In cuBLAS's place stand three loops with its rules.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "device/cpu/cpu_device.h"
#include "device/cuda/gpu_attention.h"
#include "device/cuda/gpu_matmul.h"

namespace shardlings {

// f(0), f(1), ... f(n - 1), or from the end.
template <class F>
void in_order(std::int64_t n, bool backwards, const F& f) {
  for (std::int64_t i = 0; i < n; ++i) f(backwards ? n - 1 - i : i);
}

// A row kernel's `row`: what the lanes of a warp do together.
struct EmulatedWarp {
  bool backwards;

  template <class F>
  void each(std::int64_t n, const F& f) const {
    in_order(kLanes, backwards, [&](std::int64_t lane) { for_each_step(lane, kLanes, n, f); });
  }

  template <class F>
  auto sum(std::int64_t n, const F& f) const {
    return combined([&](int lane) { return lane_sum(lane, n, f); },
                    [](auto a, auto b) { return a + b; });
  }

  template <class F>
  auto max(std::int64_t n, const F& f) const {
    return combined([&](int lane) { return lane_max(lane, n, f); },
                    [](auto a, auto b) { return b > a ? b : a; });
  }

 private:
  template <class OfLane, class Combine>
  auto combined(const OfLane& of_lane, const Combine& combine) const {
    std::array<decltype(of_lane(0)), kLanes> all;
    in_order(kLanes, backwards, [&](std::int64_t lane) {
      all[static_cast<std::size_t>(lane)] = of_lane(static_cast<int>(lane));
    });
    for (int step = kLanes / 2; step > 0; step /= 2) {
      const auto before = all;
      for (int lane = 0; lane < kLanes; ++lane)
        all[static_cast<std::size_t>(lane)] =
            combine(before[static_cast<std::size_t>(lane)],
                    before[static_cast<std::size_t>(partner(lane, step))]);
    }
    for (const auto& value : all)
      CHECK(value == all[0] || (value != value && all[0] != all[0]),
            "the lanes of a warp have found {} and {}", value, all[0]);
    return all[0];
  }
};

// The block of a program of phases.
struct EmulatedBlock {
  std::int64_t number;
  bool backwards;

  std::int64_t index() const { return number; }

  template <class F>
  void each_thread(const F& f) const {
    in_order(kThreadsPerBlock, backwards,
             [&](std::int64_t thread) { f(static_cast<int>(thread)); });
  }
};

// The launches that gpu_operations.h, gpu_attention.h and gpu_matmul.h ask for.
class EmulatedLaunches {
 public:
  explicit EmulatedLaunches(bool backwards) : backwards_(backwards) {}

  template <class Kernel>
  void elements(std::int64_t count, const Kernel& kernel) const {
    const std::int64_t blocks = blocks_for(count, kThreadsPerBlock);
    in_order(blocks, backwards_, [&](std::int64_t block) {
      in_order(kThreadsPerBlock, backwards_, [&](std::int64_t thread) {
        run_elements({block, blocks, static_cast<int>(thread)}, count, kernel);
      });
    });
  }

  template <class Kernel>
  void rows(std::int64_t rows, const Kernel& kernel) const {
    const std::int64_t blocks = blocks_for(rows, kWarpsPerBlock);
    in_order(blocks, backwards_, [&](std::int64_t block) {
      in_order(kWarpsPerBlock, backwards_, [&](std::int64_t warp) {
        run_rows({block, blocks, static_cast<int>(warp) * kLanes}, rows, kernel,
                 EmulatedWarp{backwards_});
      });
    });
  }

  template <class T, class Program>
  void blocks(std::int64_t blocks, std::int64_t shared_elements, const Program& program) const {
    constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();
    constexpr std::int64_t kWatched = 256;
    constexpr T kUntouched = 12345;
    std::vector<T> memory(static_cast<std::size_t>(shared_elements + kWatched));
    in_order(blocks, backwards_, [&](std::int64_t number) {
      const auto end = std::fill_n(memory.begin(), shared_elements, kNaN);
      std::fill(end, memory.end(), kUntouched);
      EmulatedBlock block{number, backwards_};
      program(block, memory.data());
      CHECK(std::count(end, memory.end(), kUntouched) == kWatched,
            "block {} has written behind its {} elements of shared memory", number,
            shared_elements);
    });
  }

  void multiply(const Gemm& g) const {
    CHECK(g.c_stride >= g.m && g.left_stride >= (g.transpose_left ? g.k : g.m) &&
              g.right_stride >= (g.transpose_right ? g.n : g.k),
          "a BLAS refuses strides of {}, {} and {}", g.c_stride, g.left_stride, g.right_stride);
    with_product_types(g.dtype, g.c_dtype, [&]<class In, class Out>(In, Out) {
      const auto element = [](const void* x, std::int64_t stride, bool transposed, std::int64_t i,
                              std::int64_t j) {
        return double{static_cast<const In*>(x)[transposed ? j + i * stride : i + j * stride]};
      };
      for (std::int64_t i = 0; i < g.m; ++i)
        for (std::int64_t j = 0; j < g.n; ++j) {
          double sum = 0;
          for (std::int64_t l = 0; l < g.k; ++l)
            sum += element(g.left, g.left_stride, g.transpose_left, i, l) *
                   element(g.right, g.right_stride, g.transpose_right, l, j);
          Out& c = static_cast<Out*>(g.c)[i + j * g.c_stride];
          c = static_cast<Out>(g.beta == 0 ? sum : sum + g.beta * c);
        }
    });
  }

  template <class T>
  T* scratch(std::int64_t count) {
    const std::size_t words = static_cast<std::size_t>(count) * sizeof(T) / sizeof(double) + 1;
    scratch_.assign(words, std::bit_cast<double>(~std::uint64_t{0}));  // NaN as f32 as well
    return reinterpret_cast<T*>(scratch_.data());
  }

 private:
  bool backwards_;
  std::vector<double> scratch_;
};

class EmulatedGpu final : public CpuDevice {
 public:
  EmulatedGpu(MemoryLedger& memory, WorkLedger& work, bool backwards)
      : CpuDevice(memory, work, 1), launches_(backwards) {}

  std::string_view kind() const override { return "emulated gpu"; }

 protected:
  void run(const Operation& operation, Stream) override {
    std::visit([this](const auto& op) { shardlings::run(op, launches_); }, operation);
  }

 private:
  EmulatedLaunches launches_;
};

}  // namespace shardlings
