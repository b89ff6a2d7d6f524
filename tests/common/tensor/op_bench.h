// A bench for operations: one test body runs on every device in every dtype.
//
//   on_every_device([](OpBench& bench) {
//     const Values x = bench.random("x", 33);
//     const Tensor y = bench.blank({33});
//     gelu(y, bench.put({33}, x));
//     bench.expect("y", y, each(x, gelu));
//   });
//
// Each run has a device of its own. What it expected is compared with the reference; and devices
// that run the same kernels must give the same bits.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tensor/ops.h"
#include "tests/support/devices.h"
#include "tests/support/reference_ops.h"

namespace shardlings {

class OpBench {
 public:
  using Values = reference::Values;
  using Results = std::vector<std::pair<std::string, Values>>;

  OpBench(Device& device, DType dtype, std::string kernels = "cpu", double f32_tolerance = 1e-5)
      : device_(device),
        dtype_(dtype),
        kernels_(std::move(kernels)),
        f32_tolerance_(f32_tolerance) {}

  Device& device() const { return device_; }
  DType dtype() const { return dtype_; }
  const std::string& kernels() const { return kernels_; }
  // f64 1e-12, f32 1e-5, TF32 1e-3, bf16 1e-2, relative to the largest value of the tensor.
  double tolerance() const {
    return dtype_ == DType::f64 ? 1e-12 : dtype_ == DType::bf16 ? 1e-2 : f32_tolerance_;
  }

  // Standard normal values times `scale`, as the dtype holds them: a function of name and index.
  Values random(const std::string& name, std::int64_t count, double scale = 1) const;
  Values rounded(const Values& values) const;

  Tensor put(const Shape& shape, const Values& values) const;
  Tensor put(const Shape& shape, const reference::Indices& values) const;
  // Full of NaN, so that whatever an operation does not write shows.
  Tensor blank(const Shape& shape) const;

  // Reads `got` and compares: infinities must agree, and NaN is never expected.
  void expect(const std::string& what, const Tensor& got, const Values& expected, double slack = 1);
  // As above, with the difference that is allowed given outright.
  void expect_within(const std::string& what, const Tensor& got, const Values& expected,
                     double allowed);

  const Results& results() const { return results_; }

 private:
  Device& device_;
  DType dtype_;
  std::string kernels_;
  double f32_tolerance_;
  Results results_;
};

void on_every_device(const std::function<void(OpBench&)>& body,
                     const std::vector<DType>& dtypes = {DType::f64, DType::f32});

}  // namespace shardlings
