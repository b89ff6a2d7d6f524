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

template void multiply_add(const Block<float>&, const Block<float>&, const Block<float>&,
                           Transposed);
template void multiply_add(const Block<double>&, const Block<double>&, const Block<double>&,
                           Transposed);

}  // namespace shardlings
