#include "device/cpu/product.h"

#include <Eigen/Core>

namespace shardlings {

namespace {

template <class T>
auto eigen(const Block<T>& block) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<Matrix, 0, Eigen::OuterStride<>>(block.data, block.rows, block.columns,
                                                     Eigen::OuterStride<>(block.stride));
}

// Eigen's packed kernels multiply into column-major results. Our rows are the columns of
// c^T = b^T a^T, hence b is Eigen's left operand and a its right one.
namespace packed {

using Index = std::int64_t;

template <class T>
using Traits = Eigen::internal::gebp_traits<T, T>;

template <class T, int kOrder>
using Operand = Eigen::internal::const_blas_data_mapper<T, Index, kOrder>;

template <class T, int kOrder>
using PackLeft =
    Eigen::internal::gemm_pack_rhs<T, Index, Operand<T, kOrder>, Traits<T>::nr, kOrder>;

template <class T, int kOrder>
using PackRight = Eigen::internal::gemm_pack_lhs<T, Index, Operand<T, kOrder>, Traits<T>::mr,
                                                 Traits<T>::LhsProgress,
                                                 typename Traits<T>::LhsPacket4Packing, kOrder>;

template <class T>
using Result = Eigen::internal::blas_data_mapper<T, Index, Eigen::ColMajor>;

template <class T>
using Kernel = Eigen::internal::gebp_kernel<T, T, Index, Result<T>, Traits<T>::mr, Traits<T>::nr,
                                            false, false>;

}  // namespace packed

}  // namespace

template <class T>
void multiply_add(const Block<T>& c, const Block<T>& a, const Block<T>& b, Transposed transposed) {
  switch (transposed) {
    case Transposed::none:
      eigen(c).noalias() += eigen(a) * eigen(b);
      break;
    case Transposed::a:
      eigen(c).noalias() += eigen(a).transpose() * eigen(b);
      break;
    case Transposed::b:
      eigen(c).noalias() += eigen(a) * eigen(b).transpose();
      break;
  }
}

template <class T>
void pack_left(T* packed, const Block<T>& a, bool transposed) {
  using namespace packed;
  if (transposed)
    PackLeft<T, Eigen::RowMajor>{}(packed, {a.data, a.stride}, a.rows, a.columns);
  else
    PackLeft<T, Eigen::ColMajor>{}(packed, {a.data, a.stride}, a.columns, a.rows);
}

template <class T>
void pack_right(T* packed, const Block<T>& b, bool transposed) {
  using namespace packed;
  if (transposed)
    PackRight<T, Eigen::RowMajor>{}(packed, {b.data, b.stride}, b.columns, b.rows);
  else
    PackRight<T, Eigen::ColMajor>{}(packed, {b.data, b.stride}, b.rows, b.columns);
}

template <class T>
void multiply_add_packed(const Block<T>& c, const T* a, const T* b, std::int64_t depth) {
  if (depth == 0) return;  // by which the kernel would divide
  packed::Kernel<T>{}({c.data, c.stride}, b, a, c.columns, depth, c.rows, T{1});
}

#define SHARDLINGS_PRODUCTS(T)                                                               \
  template void multiply_add(const Block<T>&, const Block<T>&, const Block<T>&, Transposed); \
  template void pack_left(T*, const Block<T>&, bool);                                        \
  template void pack_right(T*, const Block<T>&, bool);                                       \
  template void multiply_add_packed(const Block<T>&, const T*, const T*, std::int64_t);
SHARDLINGS_PRODUCTS(float)
SHARDLINGS_PRODUCTS(double)
#undef SHARDLINGS_PRODUCTS

}  // namespace shardlings
