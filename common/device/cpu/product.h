// The one place where the CPU multiplies matrices.
#pragma once

#include <cstdint>

namespace shardlings {

// rows x columns elements in memory; rows lie `stride` elements apart.
template <class T>
struct Block {
  T* data;
  std::int64_t rows, columns, stride;

  T* row(std::int64_t r) const { return data + r * stride; }
  Block rows_from(std::int64_t first, std::int64_t count) const {
    return {row(first), count, columns, stride};
  }
  Block columns_from(std::int64_t first, std::int64_t count) const {
    return {data + first, rows, count, stride};
  }
};

enum class Transposed { none, a, b };

// c += a b, a^T b or a b^T, on the calling thread. T is float or double.
template <class T>
void multiply_add(const Block<T>& c, const Block<T>& a, const Block<T>& b, Transposed transposed);

// The same in two stages, so that threads can share what the first one does: each operand is copied
// into the order in which the multiply-add loop reads it (Goto & van de Geijn 2008, "Anatomy of
// high-performance matrix multiplication", section 4). `packed` takes as many elements as the
// block has; `transposed` says that the block holds the operand's transpose.
template <class T>
void pack_left(T* packed, const Block<T>& a, bool transposed);
template <class T>
void pack_right(T* packed, const Block<T>& b, bool transposed);

// c += a b. a is c.rows x depth, b is depth x c.columns, each packed as a whole.
template <class T>
void multiply_add_packed(const Block<T>& c, const T* a, const T* b, std::int64_t depth);

}  // namespace shardlings
