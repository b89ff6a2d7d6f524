// A typed view of device memory.
//
// Tensors are handles: copying one shares the storage, and the storage lives until its last tensor
// is gone. Elements lie in rows of the last dimension; rows are `stride` elements apart (equal to
// the last size except in a view of some columns), and the outer dimensions are contiguous.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "device/device.h"
#include "tensor/shape.h"

namespace shardlings {

class Tensor {
 public:
  Tensor() = default;  // no tensor: is_empty()

  // Contents undefined. Cost: shape.elements() * bytes_per_element(dtype) bytes of `category`.
  // Errors: OutOfMemory.
  Tensor(Device& device, DType dtype, const Shape& shape, std::string_view owner,
         Category category = Category::workspace);

  bool is_empty() const { return storage_ == nullptr; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::int64_t size(std::size_t i) const { return shape_[i]; }
  std::int64_t elements() const { return shape_.elements(); }
  std::int64_t bytes() const { return elements() * bytes_per_element(dtype_); }
  std::int64_t stride() const { return stride_; }
  // One row always is, whatever it was cut from.
  bool is_contiguous() const { return stride_ == shape_.last() || elements() <= shape_.last(); }

  Device& device() const { return storage_->device(); }
  const std::shared_ptr<Storage>& storage() const { return storage_; }
  // An address for operations, not for host code.
  void* data() const;

  // The same elements under another shape. Requires: contiguous, as many elements.
  Tensor view(const Shape& shape) const;
  // Rows [begin, end) of a matrix.
  Tensor rows(std::int64_t begin, std::int64_t end) const;
  // Columns [begin, end) of the last dimension.
  Tensor columns(std::int64_t begin, std::int64_t end) const;
  // All dimensions but the last taken as one: rows() x columns().
  MatrixRef matrix() const;

  // Device to host and back, in the compute stream's order; to_host waits for it.
  template <class T>
  std::vector<T> to_host() const;
  template <class T>
  void from_host(std::span<const T> values) const;

  // f32, f64 and bf16 alike, as double: for tests, reports and checks.
  std::vector<double> to_doubles() const;
  void from_doubles(std::span<const double> values) const;
  // Requires: one element.
  double to_double() const;

 private:
  std::shared_ptr<Storage> storage_;
  DType dtype_ = DType::f32;
  Shape shape_;
  std::int64_t offset_ = 0;  // elements from the storage's start
  std::int64_t stride_ = 0;
};

}  // namespace shardlings
