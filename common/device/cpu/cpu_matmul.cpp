#include <memory>

#include "device/cpu/cpu_parallel.h"
#include "device/cpu/product.h"

namespace shardlings {

namespace {

// C is computed panel by panel, a panel slice by slice of the depth. For a slice, all threads pack
// the panel's rows of op(a) and columns of op(b), piece by piece; then they multiply-add pairs of
// pieces into the panel's tiles. So an element is packed once for all threads, and a thread's
// pieces stay in its own caches.
constexpr std::int64_t kDepth = 256;
constexpr std::int64_t kTileRows = 128, kTileColumns = 192;
constexpr std::int64_t kPanelRows = 16 * kTileRows, kPanelColumns = 16 * kTileColumns;

// One side of a panel, cut into the pieces that tiles are made of.
struct Side {
  std::int64_t first, size, piece;

  std::int64_t pieces() const { return (size + piece - 1) / piece; }
  std::int64_t begin(std::int64_t i) const { return first + i * piece; }
  std::int64_t length(std::int64_t i) const { return std::min(piece, size - i * piece); }
};

// Memory of the launching thread that outlives the call, so that it is asked of the system once.
template <class T>
struct Panels {
  static constexpr std::int64_t kAlignment = 64;
  alignas(kAlignment) T left[kPanelRows * kDepth];
  alignas(kAlignment) T right[kPanelColumns * kDepth];
};

template <class T>
Panels<T>& panels() {
  thread_local const auto memory = std::make_unique_for_overwrite<Panels<T>>();
  return *memory;
}

template <class T>
struct Multiplication {
  const Matmul& op;
  const Cpu& cpu;
  Block<T> c, a, b;
  const T* bias;

  void run() const {
    for (std::int64_t r = 0; r < c.rows; r += kPanelRows)
      for (std::int64_t j = 0; j < c.columns; j += kPanelColumns)
        panel({r, std::min(kPanelRows, c.rows - r), kTileRows},
              {j, std::min(kPanelColumns, c.columns - j), kTileColumns});
  }

 private:
  void panel(const Side& rows, const Side& columns) const {
    const std::int64_t depth = op.transpose_a ? a.rows : a.columns;
    T *left = panels<T>().left, *right = panels<T>().right;
    for (std::int64_t k = 0; k < std::max<std::int64_t>(depth, 1); k += kDepth) {
      const std::int64_t slice = std::min(kDepth, depth - k);
      parallel_for(cpu, rows.pieces() + columns.pieces(), [&](std::int64_t task) {
        if (task < rows.pieces())
          pack_rows(left + task * kTileRows * slice, rows, task, k, slice);
        else
          pack_columns(right + (task - rows.pieces()) * kTileColumns * slice, columns,
                       task - rows.pieces(), k, slice);
      });
      parallel_for(cpu, rows.pieces() * columns.pieces(), [&](std::int64_t task) {
        const std::int64_t i = task / columns.pieces(), j = task % columns.pieces();
        const Block<T> tile = c.rows_from(rows.begin(i), rows.length(i))
                                  .columns_from(columns.begin(j), columns.length(j));
        if (k == 0 && !op.accumulate) start(tile, columns.begin(j));
        multiply_add_packed(tile, left + i * kTileRows * slice, right + j * kTileColumns * slice,
                            slice);
      });
    }
  }

  void pack_rows(T* packed, const Side& rows, std::int64_t i, std::int64_t k,
                 std::int64_t slice) const {
    const std::int64_t first = rows.begin(i), count = rows.length(i);
    pack_left(packed,
              op.transpose_a ? a.rows_from(k, slice).columns_from(first, count)
                             : a.rows_from(first, count).columns_from(k, slice),
              op.transpose_a);
  }

  void pack_columns(T* packed, const Side& columns, std::int64_t j, std::int64_t k,
                    std::int64_t slice) const {
    const std::int64_t first = columns.begin(j), count = columns.length(j);
    pack_right(packed,
               op.transpose_b ? b.rows_from(first, count).columns_from(k, slice)
                              : b.rows_from(k, slice).columns_from(first, count),
               op.transpose_b);
  }

  // A tile before the first products are added to it: the bias, or zeros.
  void start(const Block<T>& tile, std::int64_t first_column) const {
    for (std::int64_t r = 0; r < tile.rows; ++r)
      if (bias != nullptr)
        std::copy_n(bias + first_column, tile.columns, tile.row(r));
      else
        std::fill_n(tile.row(r), tile.columns, T{0});
  }
};

template <class T>
Block<T> block_of(const MatrixRef& m, const Cpu& cpu) {
  return {cpu.at<T>(m.data), m.rows, m.columns, m.stride};
}

}  // namespace

void run(const Matmul& op, const Cpu& cpu) {
  CHECK(!(op.transpose_a && op.transpose_b), "matmul: no layer transposes both operands");
  with_real_type(op.dtype, [&]<class T>(T) {
    Multiplication<T>{op,
                      cpu,
                      block_of<T>(op.c, cpu),
                      block_of<T>(op.a, cpu),
                      block_of<T>(op.b, cpu),
                      cpu.at<T>(op.bias)}
        .run();
  });
}

}  // namespace shardlings
