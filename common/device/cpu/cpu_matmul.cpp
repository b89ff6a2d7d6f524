#include <Eigen/Core>

#include "device/cpu/cpu_parallel.h"

namespace shardlings {

namespace {

template <class T>
using Matrix = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>, 0,
                          Eigen::OuterStride<>>;

template <class T>
Matrix<T> matrix(const MatrixRef& m, const Cpu& cpu) {
  return {cpu.at<T>(m.data), m.rows, m.columns, Eigen::OuterStride<>(m.stride)};
}

// How much of C's larger side one task computes. Each task packs the other operand anew: fewer,
// larger tasks pack less; more, smaller ones keep more cores busy.
std::int64_t tile_of(std::int64_t side) {
  const std::int64_t quarter = (side / 4 + 15) / 16 * 16;
  return std::clamp<std::int64_t>(quarter, 64, 512);
}

// One block of C. Each case is a product type of its own to Eigen.
template <class T, class C, class A, class B>
void multiply(C&& c, const A& a, const B& b, bool accumulate) {
  if (accumulate)
    c.noalias() += a * b;
  else
    c.noalias() = a * b;
}

template <class T>
void matmul(const Matmul& op, const Cpu& cpu) {
  Matrix<T> c = matrix<T>(op.c, cpu);
  const Matrix<T> a = matrix<T>(op.a, cpu), b = matrix<T>(op.b, cpu);
  const T* bias = cpu.at<T>(op.bias);
  const std::int64_t m = c.rows(), n = c.cols(), inner = op.transpose_a ? a.rows() : a.cols();

  // Rows [r, r + h) x columns [j, j + w) of C.
  const auto block = [&](std::int64_t r, std::int64_t h, std::int64_t j, std::int64_t w) {
    auto c_block = c.block(r, j, h, w);
    const auto a_rows = a.block(r, 0, op.transpose_a ? 0 : h, op.transpose_a ? 0 : inner);
    const auto a_columns = a.block(0, r, op.transpose_a ? inner : 0, op.transpose_a ? h : 0);
    const auto b_columns = b.block(0, j, op.transpose_b ? 0 : inner, op.transpose_b ? 0 : w);
    const auto b_rows = b.block(j, 0, op.transpose_b ? w : 0, op.transpose_b ? inner : 0);
    if (op.transpose_a && op.transpose_b)
      multiply<T>(c_block, a_columns.transpose(), b_rows.transpose(), op.accumulate);
    else if (op.transpose_a)
      multiply<T>(c_block, a_columns.transpose(), b_columns, op.accumulate);
    else if (op.transpose_b)
      multiply<T>(c_block, a_rows, b_rows.transpose(), op.accumulate);
    else
      multiply<T>(c_block, a_rows, b_columns, op.accumulate);
    if (bias != nullptr)
      c_block.rowwise() += Eigen::Map<const Eigen::Matrix<T, 1, Eigen::Dynamic>>(bias + j, w);
  };

  const bool by_rows = m >= n;
  const std::int64_t side = by_rows ? m : n, tile = tile_of(side);
  parallel_for(cpu, (side + tile - 1) / tile, [&](std::int64_t task) {
    const std::int64_t begin = task * tile, size = std::min(tile, side - begin);
    if (by_rows)
      block(begin, size, 0, n);
    else
      block(0, m, begin, size);
  });
}

}  // namespace

void run(const Matmul& op, const Cpu& cpu) {
  with_real_type(op.dtype, [&]<class T>(T) { matmul<T>(op, cpu); });
}

}  // namespace shardlings
