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

}  // namespace shardlings
