#include "device/cpu/cpu_parallel.h"
#include "device/cpu/product.h"

namespace shardlings {

namespace {

template <class T>
Block<T> block_of(const MatrixRef& m, const Cpu& cpu) {
  return {cpu.at<T>(m.data), m.rows, m.columns, m.stride};
}

// How much of C's larger side one task computes. Each task packs the other operand anew: fewer,
// larger tasks pack less; more, smaller ones keep more cores busy.
std::int64_t tile_of(std::int64_t side) {
  const std::int64_t quarter = (side / 4 + 15) / 16 * 16;
  return std::clamp<std::int64_t>(quarter, 64, 512);
}

template <class T>
void matmul(const Matmul& op, const Cpu& cpu) {
  const Block<T> c = block_of<T>(op.c, cpu), a = block_of<T>(op.a, cpu), b = block_of<T>(op.b, cpu);
  const T* bias = cpu.at<T>(op.bias);
  const Transposed transposed = op.transpose_a   ? Transposed::a
                                : op.transpose_b ? Transposed::b
                                                 : Transposed::none;
  CHECK(!(op.transpose_a && op.transpose_b), "matmul: no layer transposes both operands");

  // The block of C in rows [r, r + h) and columns [j, j + w).
  const auto compute = [&](std::int64_t r, std::int64_t h, std::int64_t j, std::int64_t w) {
    const Block<T> tile = c.rows_from(r, h).columns_from(j, w);
    if (!op.accumulate)
      for (std::int64_t i = 0; i < h; ++i) std::fill_n(tile.row(i), w, T{0});
    multiply_add(tile, op.transpose_a ? a.columns_from(r, h) : a.rows_from(r, h),
                 op.transpose_b ? b.rows_from(j, w) : b.columns_from(j, w), transposed);
    if (bias != nullptr)
      for (std::int64_t i = 0; i < h; ++i)
        CpuRow{}.each(w, [row = tile.row(i), add = bias + j](std::int64_t k) { row[k] += add[k]; });
  };

  const bool by_rows = c.rows >= c.columns;
  const std::int64_t side = by_rows ? c.rows : c.columns, tile = tile_of(side);
  parallel_for(cpu, (side + tile - 1) / tile, [&](std::int64_t task) {
    const std::int64_t begin = task * tile, size = std::min(tile, side - begin);
    if (by_rows)
      compute(begin, size, 0, c.columns);
    else
      compute(0, c.rows, begin, size);
  });
}

}  // namespace

void run(const Matmul& op, const Cpu& cpu) {
  with_real_type(op.dtype, [&]<class T>(T) { matmul<T>(op, cpu); });
}

}  // namespace shardlings
