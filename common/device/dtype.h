// Element types.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/check.h"

namespace shardlings {

enum class DType { f32, f64, i32 };

constexpr std::int64_t bytes_per_element(DType dtype) {
  return dtype == DType::f64 ? 8 : 4;
}

constexpr std::string_view name_of(DType dtype) {
  return dtype == DType::f32 ? "f32" : dtype == DType::f64 ? "f64" : "i32";
}

template <class T>
inline constexpr DType kDTypeOf = DType::i32;
template <>
inline constexpr DType kDTypeOf<float> = DType::f32;
template <>
inline constexpr DType kDTypeOf<double> = DType::f64;

// Calls function(T{}) with the floating-point type that `dtype` names.
template <class Function>
decltype(auto) with_real_type(DType dtype, Function&& function) {
  CHECK(dtype != DType::i32, "this operation needs f32 or f64, got i32");
  return dtype == DType::f32 ? function(float{}) : function(double{});
}

}  // namespace shardlings
