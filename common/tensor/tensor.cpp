#include "tensor/tensor.h"

#include <algorithm>

namespace shardlings {

Shape::Shape(std::initializer_list<std::int64_t> sizes) : rank_(sizes.size()) {
  CHECK(rank_ >= 1 && rank_ <= kMaxRank, "a shape has 1 to {} sizes, got {}", kMaxRank, rank_);
  std::copy(sizes.begin(), sizes.end(), sizes_.begin());
  for (const std::int64_t size : sizes) CHECK(size >= 0, "shape {}: negative size", text());
}

std::int64_t Shape::elements() const {
  std::int64_t product = rank_ == 0 ? 0 : 1;
  for (std::size_t i = 0; i < rank_; ++i) product *= sizes_[i];
  return product;
}

Shape Shape::with_last(std::int64_t size) const {
  Shape result = *this;
  result.sizes_[rank_ - 1] = size;
  return result;
}

std::string Shape::text() const {
  std::string text;
  for (std::size_t i = 0; i < rank_; ++i)
    text += fmt::format("{}{}", i == 0 ? "" : " x ", sizes_[i]);
  return text;
}

Tensor::Tensor(Device& device, DType dtype, const Shape& shape, std::string_view owner,
               Category category)
    : storage_(device.allocate(shape.elements() * bytes_per_element(dtype), category, owner)),
      dtype_(dtype),
      shape_(shape),
      stride_(shape.last()) {}

void* Tensor::data() const {
  CHECK(!is_empty(), "an empty tensor has no data");
  return static_cast<std::byte*>(storage_->data()) + offset_ * bytes_per_element(dtype_);
}

Tensor Tensor::view(const Shape& shape) const {
  CHECK(is_contiguous() && shape.elements() == elements(), "{} cannot be viewed as {}",
        shape_.text(), shape.text());
  Tensor result = *this;
  result.shape_ = shape;
  result.stride_ = shape.last();
  return result;
}

Tensor Tensor::rows(std::int64_t begin, std::int64_t end) const {
  CHECK(shape_.rank() == 2, "rows are taken from matrices, not from {}", shape_.text());
  CHECK(0 <= begin && begin <= end && end <= shape_[0], "rows {} to {} of {}", begin, end,
        shape_.text());
  Tensor result = *this;
  result.offset_ += begin * stride_;
  result.shape_ = {end - begin, shape_[1]};
  return result;
}

Tensor Tensor::columns(std::int64_t begin, std::int64_t end) const {
  CHECK(0 <= begin && begin <= end && end <= shape_.last(), "columns {} to {} of {}", begin, end,
        shape_.text());
  Tensor result = *this;
  result.offset_ += begin;
  result.shape_ = shape_.with_last(end - begin);
  return result;
}

MatrixRef Tensor::matrix() const {
  const std::int64_t columns = shape_.last();
  return {data(), columns == 0 ? 0 : elements() / columns, columns, stride_};
}

template <class T>
std::vector<T> Tensor::to_host() const {
  CHECK(dtype_ == kDTypeOf<T>, "a {} tensor is read as {}", name_of(dtype_), name_of(kDTypeOf<T>));
  std::vector<T> values(static_cast<std::size_t>(elements()));
  if (values.empty()) return values;
  const MatrixRef m = matrix();
  const auto row_bytes = static_cast<std::int64_t>(sizeof(T)) * m.columns;
  if (is_contiguous()) {
    device().download(values.data(), data(), bytes());
  } else {
    for (std::int64_t r = 0; r < m.rows; ++r)
      device().download(values.data() + r * m.columns, static_cast<const T*>(m.data) + r * m.stride,
                        row_bytes);
  }
  device().synchronize();
  return values;
}

template <class T>
void Tensor::from_host(std::span<const T> values) const {
  CHECK(dtype_ == kDTypeOf<T>, "a {} tensor is written as {}", name_of(dtype_),
        name_of(kDTypeOf<T>));
  CHECK(is_contiguous(), "only contiguous tensors are uploaded, got a view of {}", shape_.text());
  CHECK(static_cast<std::int64_t>(values.size()) == elements(), "{} values for a tensor of {}",
        values.size(), shape_.text());
  if (!values.empty()) device().upload(data(), values.data(), bytes());
}

template std::vector<float> Tensor::to_host() const;
template std::vector<double> Tensor::to_host() const;
template std::vector<Bf16> Tensor::to_host() const;
template std::vector<std::int32_t> Tensor::to_host() const;
template void Tensor::from_host(std::span<const float>) const;
template void Tensor::from_host(std::span<const double>) const;
template void Tensor::from_host(std::span<const Bf16>) const;
template void Tensor::from_host(std::span<const std::int32_t>) const;

std::vector<double> Tensor::to_doubles() const {
  return with_real_or_bf16(dtype_, [&]<class T>(T) {
    const std::vector<T> values = to_host<T>();
    return std::vector<double>(values.begin(), values.end());
  });
}

void Tensor::from_doubles(std::span<const double> values) const {
  with_real_or_bf16(dtype_, [&]<class T>(T) {
    std::vector<T> rounded(values.size());
    std::transform(values.begin(), values.end(), rounded.begin(),
                   [](double value) { return static_cast<T>(value); });
    from_host<T>(rounded);
  });
}

double Tensor::to_double() const {
  CHECK(elements() == 1, "one element expected, got {}", shape_.text());
  return to_doubles().front();
}

}  // namespace shardlings
