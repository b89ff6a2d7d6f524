// Element-wise operations, sums for the host, the optimizer and clone.
#include <map>

#include "tests/common/tensor/op_bench.h"
#include "tests/support/catch.h"

using namespace shardlings;
using reference::Values;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Sizes that end inside a vector register, and one of more than one task of the CPU.
void for_each_size(const std::function<void(OpBench&, std::int64_t)>& body) {
  for (const std::int64_t count : {1, 3, 33, 1023, 40001}) {
    INFO("size " << count);
    on_every_device([&](OpBench& bench) { body(bench, count); });
  }
}

}  // namespace

TEST_CASE("fill, scale, add, maximum and add_scaled") {
  for_each_size([](OpBench& bench, std::int64_t n) {
    const Values x = bench.random("x", n), y = bench.random("y", n);
    const Tensor x_put = bench.put({n}, x), y_put = bench.put({n}, y), z = bench.blank({n});
    fill(z, 0.5);
    bench.expect("fill", z, Values(x.size(), 0.5));
    add(z, x_put, y_put);
    bench.expect("add", z, reference::plus(x, y));
    maximum(z, x_put, y_put);
    Values larger = x;
    for (std::size_t i = 0; i < larger.size(); ++i) larger[i] = std::max(x[i], y[i]);
    bench.expect("maximum", z, larger);
    scale(y_put, -1.5);
    bench.expect("scale", y_put, reference::each(y, [](double v) { return -1.5 * v; }));
    y_put.from_doubles(y);
    add_scaled(y_put, x_put, 0.25);
    bench.expect("add_scaled", y_put,
                 reference::plus(y, reference::each(x, [](double v) { return 0.25 * v; })));
  });
}

TEST_CASE("clone has a storage of its own, and the values of the moment") {
  for_each_size([](OpBench& bench, std::int64_t n) {
    const Values x = bench.random("x", n);
    const Tensor original = bench.put({n}, x);
    const Tensor copy = clone(original, "copy", Category::optimizer);
    fill(original, 0);
    bench.expect("copy", copy, x);
    REQUIRE(copy.storage()->category() == Category::optimizer);
  });
}

TEST_CASE("cast rounds to the dtype of its output, once") {
  for_each_size([](OpBench& bench, std::int64_t n) {
    Values x = bench.random("x", n);
    // Half-way between two bf16; and beyond that by less than an f32 could tell.
    const Values hard = bench.rounded({1 + 0x1p-8, 1 + 0x1p-8 + 0x1p-40, HUGE_VAL});
    std::copy_n(hard.begin(), std::min(hard.size(), x.size()), x.begin());
    const Tensor from = bench.put({n}, x), back = bench.blank({n});
    for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
      const Tensor to(bench.device(), dtype, {n}, "to");
      const Values expected = with_real_or_bf16(dtype, [&]<class T>(T) {
        return reference::each(x, [](double v) { return double{static_cast<T>(v)}; });
      });
      cast(to, from);
      bench.expect_within("there", to, expected, 0);
      cast(back, to);
      bench.expect_within("and back", back, expected, 0);
    }
  });
}

TEST_CASE("operations accept their own input as output") {
  on_every_device([](OpBench& bench) {
    const Values x = bench.random("x", 1023);
    const Tensor y = bench.put({1023}, x);
    add(y, y, y);
    bench.expect("add", y, reference::each(x, [](double v) { return v + v; }));
    y.from_doubles(x);
    gelu(y, y);
    bench.expect("gelu", y, reference::each(x, reference::gelu));
  });
}

TEST_CASE("gelu and its derivative") {
  for_each_size([](OpBench& bench, std::int64_t n) {
    const Values x = bench.random("x", n, 2), d_y = bench.random("d_y", n);
    const Tensor x_put = bench.put({n}, x), y = bench.blank({n}), d_x = bench.blank({n});
    gelu(y, x_put);
    bench.expect("y", y, reference::each(x, reference::gelu));
    gelu_backward(d_x, x_put, bench.put({n}, d_y));
    Values expected = reference::each(x, reference::gelu_derivative);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] *= d_y[i];
    bench.expect("d_x", d_x, expected);
  });
}

TEST_CASE("gelu is x far above zero and 0 far below, with slope 1 and 0") {
  on_every_device([](OpBench& bench) {
    const Values x{30, 1e4, 1e9, -30, -1e4, -1e9};
    const Tensor y = bench.blank({6}), d_x = bench.blank({6}), x_put = bench.put({6}, x);
    gelu(y, x_put);
    bench.expect_within("y", y, {30, 1e4, 1e9, 0, 0, 0}, 0);
    gelu_backward(d_x, x_put, bench.put({6}, Values(6, 1.0)));
    bench.expect_within("d_x", d_x, {1, 1, 1, 0, 0, 0}, 0);
  });
}

TEST_CASE("gelu keeps its digits near zero, where (1 + tanh u) / 2 of a float loses none") {
  on_every_device([](OpBench& bench) {
    for (const double x : {1e-3, 1e-10, -1e-20, -3.0, -4.5}) {
      const Values value = bench.rounded({x});
      const Tensor y = bench.blank({1});
      gelu(y, bench.put({1}, value));
      // tanh loses digits where it is close to -1; this form does not.
      const double root = std::sqrt(2 / std::numbers::pi), v = value[0];
      bench.expect("y", y, {v / (1 + std::exp(-2 * root * (v + 0.044715 * v * v * v)))});
    }
  });
}

TEST_CASE("NaN passes through every element-wise operation") {
  on_every_device([](OpBench& bench) {
    const auto is_nan = [](const Tensor& x) { return std::isnan(x.to_double()); };
    const Tensor nan = bench.blank({1}), one = bench.put({1}, Values{1}),
                 y = bench.put({1}, Values{0});
    add(y, nan, one);
    REQUIRE(is_nan(y));
    maximum(y, nan, one);
    REQUIRE(is_nan(y));
    maximum(y, one, nan);
    REQUIRE(is_nan(y));
    gelu(y, nan);
    REQUIRE(is_nan(y));
    gelu_backward(y, nan, one);
    REQUIRE(is_nan(y));
    gelu_backward(y, one, nan);
    REQUIRE(is_nan(y));
    add_scaled(y, one, 0);
    REQUIRE(is_nan(y));
    scale(y, 0);
    REQUIRE(is_nan(y));
    const Tensor bf16(bench.device(), DType::bf16, {1}, "bf16");
    cast(bf16, nan);
    REQUIRE(is_nan(bf16));
    cast(y, bf16);
    REQUIRE(is_nan(y));
    REQUIRE(std::isnan(sum(nan)));
    REQUIRE(std::isnan(sum_of_squares(nan)));
  });
}

TEST_CASE("sum and sum_of_squares add up in double") {
  for_each_size([](OpBench& bench, std::int64_t n) {
    const Values x = bench.random("x", n);
    long double total = 0, squares = 0, magnitude = 0;
    for (const long double v : x) total += v, squares += v * v, magnitude += std::abs(v);
    const Tensor x_put = bench.put({n}, x);
    // In double whatever the dtype: 1e-14 of the terms.
    REQUIRE(std::abs(sum(x_put) - total) <= 1e-14L * magnitude);
    REQUIRE(std::abs(sum_of_squares(x_put) - squares) <= 1e-14L * squares);
  });
}

TEST_CASE("the sum of nothing is 0") {
  on_every_device([](OpBench& bench) { REQUIRE(sum(bench.blank({0})) == 0); });
}

TEST_CASE("sums have the same bits on all devices with the same kernels") {
  for (const bool squares : {false, true}) {
    std::map<std::string, std::vector<double>> sums;
    on_every_device([&](OpBench& bench) {
      if (bench.dtype() == DType::f64) return;
      const Tensor x = bench.put({100001}, bench.random("x", 100001));
      sums[bench.kernels()].push_back(squares ? sum_of_squares(x) : sum(x));
    });
    REQUIRE(sums.at("cpu").size() == 4);
    REQUIRE(sums.at("emulated gpu").size() == 2);
    for (const auto& [kernels, all] : sums)
      for (const double s : all) {
        REQUIRE(s == all.front());
        REQUIRE(s == Approx(sums.at("cpu").front()).epsilon(1e-12));
      }
  }
}

TEST_CASE("adamw: three steps from zero moments") {
  for_each_size([](OpBench& bench, std::int64_t n) {
    for (const double beta2 : {0.95, 0.999}) {
      reference::AdamW state{bench.random("w", n), reference::zeros(n), reference::zeros(n)};
      const Tensor w = bench.put({n}, state.w), m = bench.put({n}, state.m),
                   v = bench.put({n}, state.v);
      for (std::int64_t step = 1; step <= 3; ++step) {
        const Values g = bench.random(fmt::format("g{}", step), n);
        adamw(w, m, v, bench.put({n}, g),
              {.learning_rate = 0.03, .beta2 = beta2, .decay = 0.1, .step = step});
        state = reference::adamw(state, g, 0.03, 0.9, beta2, 1e-8, 0.1, static_cast<double>(step));
      }
      bench.expect("w", w, state.w);
      bench.expect("m", m, state.m);
      bench.expect("v", v, state.v);
    }
  });
}

TEST_CASE("adamw: decay is decoupled, and without a gradient only decay moves a weight") {
  on_every_device([](OpBench& bench) {
    const Tensor w = bench.put({2}, Values{1, -2}), m = bench.put({2}, Values{0, 0}),
                 v = bench.put({2}, Values{0, 0}), g = bench.put({2}, Values{0, 0});
    adamw(w, m, v, g, {.learning_rate = 0.5, .decay = 0.25});
    bench.expect("w", w, {0.875, -1.75});
  });
}
