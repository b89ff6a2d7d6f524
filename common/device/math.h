// Functions that compilers can vectorise: no branches, no calls.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

// Marks what runs on the host and, in a CUDA translation unit, on the GPU too.
#ifdef __CUDACC__
#define SHARDLINGS_KERNEL __host__ __device__
#else
#define SHARDLINGS_KERNEL
#endif

namespace shardlings {

// 1/k! for k = 0 ... 13.
template <class T>
struct InverseFactorials {
  T values[14];
  constexpr InverseFactorials() : values{} {
    double value = 1;
    for (int k = 0; k < 14; ++k) {
      if (k > 0) value /= k;
      values[k] = static_cast<T>(value);
    }
  }
  SHARDLINGS_KERNEL constexpr T operator[](int k) const { return values[k]; }
};

template <class T>
struct ExpConstants;

template <>
struct ExpConstants<float> {
  using Integer = std::uint32_t;
  static constexpr int kDegree = 6, kMantissaBits = 23;
  static constexpr float kLog2E = 1.44269504f;
  static constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  static constexpr float kLargest = 88.72283f, kSmallest = -87.33654f;
  static constexpr float kRound = 0x1.8p23f;
};

template <>
struct ExpConstants<double> {
  using Integer = std::uint64_t;
  static constexpr int kDegree = 13, kMantissaBits = 52;
  static constexpr double kLog2E = 1.4426950408889634;
  static constexpr double kLn2High = 0.693145751953125, kLn2Low = 1.42860682030941723212e-6;
  static constexpr double kLargest = 709.782712893384, kSmallest = -708.396418532264;
  static constexpr double kRound = 0x1.8p52;
};

// e^x, within 3e-7 (f32) or 1e-15 (f64) relative. Results below the smallest normal number are 0,
// exp(-infinity) is 0, overflow is infinity, NaN stays NaN.
//
// x = n ln 2 + r with |r| <= ln 2 / 2: e^r by its Taylor polynomial, 2^n by the exponent bits.
// Adding and subtracting kRound rounds to an integer and leaves it in the low bits.
template <class T>
SHARDLINGS_KERNEL inline T fast_exp(T x) {
  using C = ExpConstants<T>;
  using Integer = typename C::Integer;
  constexpr InverseFactorials<T> kInverseFactorials{};  // here, where GPUs find it as well
  const T shifted = x * C::kLog2E + C::kRound;
  const T n = shifted - C::kRound;
  const T r = (x - n * C::kLn2High) - n * C::kLn2Low;
  T sum = kInverseFactorials[C::kDegree];
  for (int k = C::kDegree - 1; k >= 0; --k) sum = sum * r + kInverseFactorials[k];
  // 2^n by adding n to the sum's exponent. The low bits of kRound are zero, so that shifting leaves
  // n alone. Where x is out of range all this is nonsense, and is not taken.
  const Integer exponent = std::bit_cast<Integer>(shifted) << C::kMantissaBits;
  const T result = std::bit_cast<T>(std::bit_cast<Integer>(sum) + exponent);
  const T not_small = x < C::kSmallest ? T{0} : result;
  return x <= C::kLargest ? not_small : x + std::numeric_limits<T>::infinity();  // infinity or NaN
}

// 1 / (1 + e^-x)
template <class T>
SHARDLINGS_KERNEL inline T sigmoid(T x) {
  return 1 / (1 + fast_exp(-x));
}

}  // namespace shardlings
