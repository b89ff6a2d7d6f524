#include <memory>
#include <type_traits>
#include <vector>

#include "device/cpu/cpu_parallel.h"
#include "device/cpu/product.h"
#include "device/kernels.h"

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

// As large as `like`, in memory of the calling thread that outlives the call.
template <class T, class Like>
Block<T> scratch_block(std::vector<T>& memory, const Block<Like>& like) {
  memory.resize(static_cast<std::size_t>(like.rows * like.columns));
  return {memory.data(), like.rows, like.columns, like.columns};
}

template <class To, class From>
void cast(const Block<To>& to, const Block<From>& from) {
  for (std::int64_t r = 0; r < to.rows; ++r)
    CpuRow{}.each(to.columns, CastKernel<To, From>{to.row(r), from.row(r)});
}

// A piece of an operand as T: where it lies, if its elements are T, or else a copy.
template <class T, class In>
Block<T> read_as(const Block<In>& piece) {
  if constexpr (std::is_same_v<T, In>) {
    return piece;
  } else {
    thread_local std::vector<T> memory;
    const Block<T> copy = scratch_block(memory, piece);
    cast(copy, piece);
    return copy;
  }
}

// In is the type of a, b and bias, Out that of c.
template <class In, class Out>
struct Multiplication {
  using T = decltype(In{} * In{});
  static constexpr bool kSumsInC = std::is_same_v<T, Out>;

  const Matmul& op;
  const Cpu& cpu;
  Block<Out> c;
  Block<In> a, b;
  const In* bias;

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
    const Block<Out> results =
        c.rows_from(rows.first, rows.size).columns_from(columns.first, columns.size);
    const Block<T> sums = sums_of(results);
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
        const auto tile_of = [&](const auto& panel) {
          return panel.rows_from(i * kTileRows, rows.length(i))
              .columns_from(j * kTileColumns, columns.length(j));
        };
        const Block<T> tile = tile_of(sums);
        if (k == 0) start(tile, tile_of(results), columns.begin(j));
        multiply_add_packed(tile, left + i * kTileRows * slice, right + j * kTileColumns * slice,
                            slice);
        if (!kSumsInC && k + kDepth >= depth) cast(tile_of(results), tile);
      });
    }
  }

  // Where the products of a panel are added up: in c, unless its elements are less than T.
  static Block<T> sums_of(const Block<Out>& results) {
    if constexpr (kSumsInC) {
      return results;
    } else {
      thread_local std::vector<T> memory;
      return scratch_block(memory, results);
    }
  }

  void pack_rows(T* packed, const Side& rows, std::int64_t i, std::int64_t k,
                 std::int64_t slice) const {
    const std::int64_t first = rows.begin(i), count = rows.length(i);
    pack_left(packed,
              read_as<T>(op.transpose_a ? a.rows_from(k, slice).columns_from(first, count)
                                        : a.rows_from(first, count).columns_from(k, slice)),
              op.transpose_a);
  }

  void pack_columns(T* packed, const Side& columns, std::int64_t j, std::int64_t k,
                    std::int64_t slice) const {
    const std::int64_t first = columns.begin(j), count = columns.length(j);
    pack_right(packed,
               read_as<T>(op.transpose_b ? b.rows_from(first, count).columns_from(k, slice)
                                         : b.rows_from(k, slice).columns_from(first, count)),
               op.transpose_b);
  }

  // A tile before the first products are added to it: c as it was, the bias, or zeros.
  void start(const Block<T>& tile, const Block<Out>& before, std::int64_t first_column) const {
    if (op.accumulate) {
      if (!kSumsInC) cast(tile, before);
      return;
    }
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
  with_product_types(op.dtype, op.c_dtype, [&]<class In, class Out>(In, Out) {
    Multiplication<In, Out>{op,
                            cpu,
                            block_of<Out>(op.c, cpu),
                            block_of<In>(op.a, cpu),
                            block_of<In>(op.b, cpu),
                            cpu.at<In>(op.bias)}
        .run();
  });
}

}  // namespace shardlings
