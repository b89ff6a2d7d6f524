// Element types.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "device/bf16.h"

namespace shardlings {

enum class DType { f32, f64, bf16, i32 };

constexpr std::int64_t bytes_per_element(DType dtype) {
  return dtype == DType::f64 ? 8 : dtype == DType::bf16 ? 2 : 4;
}

constexpr std::string_view name_of(DType dtype) {
  constexpr std::string_view names[] = {"f32", "f64", "bf16", "i32"};
  return names[static_cast<int>(dtype)];
}

template <class T>
inline constexpr DType kDTypeOf = DType::i32;
template <>
inline constexpr DType kDTypeOf<float> = DType::f32;
template <>
inline constexpr DType kDTypeOf<double> = DType::f64;
template <>
inline constexpr DType kDTypeOf<Bf16> = DType::bf16;

// Calls function(T{}) with the type that `dtype` names, of those that the course computes in.
template <class Function>
decltype(auto) with_real_type(DType dtype, Function&& function) {
  CHECK(dtype == DType::f32 || dtype == DType::f64, "this operation needs f32 or f64, got {}",
        name_of(dtype));
  return dtype == DType::f32 ? function(float{}) : function(double{});
}

// The same for what only stores values, which may be Bf16 as well.
template <class Function>
decltype(auto) with_real_or_bf16(DType dtype, Function&& function) {
  return dtype == DType::bf16 ? function(Bf16{}) : with_real_type(dtype, function);
}

// Calls function(In{}, Out{}) with the types of a product's operands and of its result: the same
// type, or f32 out of bf16. In{} * In{} has the type that the product is computed in.
template <class Function>
void with_product_types(DType in, DType out, Function&& function) {
  CHECK(in == out || (in == DType::bf16 && out == DType::f32), "a product of {} does not give {}",
        name_of(in), name_of(out));
  if (in != out)
    function(Bf16{}, float{});
  else
    with_real_or_bf16(in, [&]<class T>(T) { function(T{}, T{}); });
}

}  // namespace shardlings
