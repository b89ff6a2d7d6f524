// Matrix products on a GPU: how they are put to a BLAS.
//
// A BLAS's matrices have their columns one after the other, ours their rows: it finds c^T where our
// c is, and likewise a^T and b^T. Hence it is asked for c^T = op(b)^T op(a)^T.
#pragma once

#include "device/cuda/gpu_operations.h"

namespace shardlings {

// c = op(left) op(right) + beta c, of m x n elements, in a BLAS's terms: element (i, j) of a matrix
// lies at i + j * stride. With beta 0, c is not read.
struct Gemm {
  DType dtype, c_dtype;
  std::int64_t m, n, k;
  void* c;
  std::int64_t c_stride;
  const void* left;
  std::int64_t left_stride;
  const void* right;
  std::int64_t right_stride;
  bool transpose_left, transpose_right;
  double beta;
};

// c before the products are added to it: the bias of each column, or 0.
template <class In, class Out>
struct StartKernel {
  Out* c;
  const In* bias;
  std::int64_t columns, stride;

  SHARDLINGS_KERNEL void operator()(std::int64_t i) const {
    const std::int64_t column = i % columns;
    c[i / columns * stride + column] = static_cast<Out>(bias == nullptr ? In{} : bias[column]);
  }
};

// gpu.multiply(gemm) carries out one.
template <class Gpu>
void run(const Matmul& op, Gpu& gpu) {
  CHECK(!(op.transpose_a && op.transpose_b), "matmul: no layer transposes both operands");
  const std::int64_t depth = op.transpose_a ? op.a.rows : op.a.columns;
  const std::int64_t elements = op.c.rows * op.c.columns;
  if (elements == 0) return;
  const bool starts = !op.accumulate && (op.bias != nullptr || depth == 0);
  if (starts)
    with_product_types(op.dtype, op.c_dtype, [&]<class In, class Out>(In, Out) {
      gpu.elements(elements, StartKernel<In, Out>{as<Out>(op.c.data), as<In>(op.bias), op.c.columns,
                                                  op.c.stride});
    });
  if (depth == 0) return;
  gpu.multiply({.dtype = op.dtype,
                .c_dtype = op.c_dtype,
                .m = op.c.columns,
                .n = op.c.rows,
                .k = depth,
                .c = op.c.data,
                .c_stride = op.c.stride,
                .left = op.b.data,
                .left_stride = op.b.stride,
                .right = op.a.data,
                .right_stride = op.a.stride,
                .transpose_left = op.transpose_b,
                .transpose_right = op.transpose_a,
                .beta = op.accumulate || starts ? 1.0 : 0.0});
}

}  // namespace shardlings
