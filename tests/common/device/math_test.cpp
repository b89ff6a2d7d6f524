// exp and sigmoid against the standard library's, over the whole range of both types.
#include "device/math.h"

#include <cmath>

#include "tests/support/catch.h"

using namespace shardlings;

namespace {

template <class T>
constexpr T kInfinity = std::numeric_limits<T>::infinity();

template <class T>
double relative_error(T x) {
  const double right = std::exp(static_cast<double>(x));
  return std::abs(static_cast<double>(fast_exp(x)) - right) / right;
}

// The largest relative error on an even grid from the smallest to the largest argument with a
// normal result, both included.
template <class T>
double worst_error() {
  using C = ExpConstants<T>;
  constexpr int kPoints = 2000003;
  double worst = 0;
  for (int i = 0; i <= kPoints; ++i) {
    const double t = static_cast<double>(i) / kPoints;
    worst = std::max(
        worst, relative_error(static_cast<T>(C::kSmallest + t * (C::kLargest - C::kSmallest))));
  }
  return worst;
}

}  // namespace

TEST_CASE("fast_exp keeps its promise over the whole range") {
  CHECK(worst_error<float>() < 3e-7);
  CHECK(worst_error<double>() < 1e-15);
}

TEMPLATE_TEST_CASE("fast_exp near 0 and at the ends of its range", "", float, double) {
  using C = ExpConstants<TestType>;
  const double promise = sizeof(TestType) == 4 ? 3e-7 : 1e-15;
  CHECK(fast_exp(TestType{0}) == 1);
  CHECK(fast_exp(-TestType{0}) == 1);
  for (const double x : {1e-30, -1e-30, 1e-5, -1e-5, 0.34657, 0.34658, -0.34657, -0.34658, 1.0})
    CHECK(relative_error(static_cast<TestType>(x)) < promise);
  // Both ends lie within the normal numbers, and what lies beyond them does not.
  CHECK(relative_error(C::kLargest) < promise);
  CHECK(relative_error(C::kSmallest) < promise);
  CHECK(std::isfinite(fast_exp(C::kLargest)));
  CHECK(fast_exp(std::nextafter(C::kLargest, kInfinity<TestType>)) == kInfinity<TestType>);
  CHECK(std::exp(std::nextafter(C::kLargest, kInfinity<TestType>)) == kInfinity<TestType>);
  CHECK(fast_exp(C::kSmallest) >= std::numeric_limits<TestType>::min());
  CHECK(fast_exp(std::nextafter(C::kSmallest, -kInfinity<TestType>)) == 0);
}

TEMPLATE_TEST_CASE("fast_exp of infinities, of NaN and of what is far away", "", float, double) {
  CHECK(fast_exp(-kInfinity<TestType>) == 0);
  CHECK(fast_exp(kInfinity<TestType>) == kInfinity<TestType>);
  CHECK(fast_exp(std::numeric_limits<TestType>::lowest()) == 0);
  CHECK(fast_exp(std::numeric_limits<TestType>::max()) == kInfinity<TestType>);
  CHECK(std::isnan(fast_exp(std::numeric_limits<TestType>::quiet_NaN())));
  CHECK(std::isnan(fast_exp(-std::numeric_limits<TestType>::quiet_NaN())));
  CHECK(std::isnan(sigmoid(std::numeric_limits<TestType>::quiet_NaN())));
}

TEMPLATE_TEST_CASE("sigmoid", "", float, double) {
  CHECK(sigmoid(TestType{0}) == TestType{0.5});
  CHECK(sigmoid(kInfinity<TestType>) == 1);
  CHECK(sigmoid(-kInfinity<TestType>) == 0);
  CHECK(sigmoid(TestType{1000}) == 1);
  CHECK(sigmoid(TestType{-1000}) == 0);
  CHECK(sigmoid(TestType{-20}) == Approx(std::exp(-20.0)).epsilon(1e-6));
}
