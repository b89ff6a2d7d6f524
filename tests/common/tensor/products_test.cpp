// Matrix products and column sums against loops, for shapes that fill no tile evenly.
#include "tests/common/tensor/op_bench.h"
#include "tests/support/catch.h"
#include "tests/support/compare.h"

using namespace shardlings;
using reference::element;
using reference::product;
using reference::transposed_element;
using reference::Values;

namespace {

struct Sizes {
  std::int64_t rows, inner, columns;
};

// One row or column (a product with a vector), products of one, odd mixtures, and more rows,
// columns and depth than a tile, a panel and a slice of the CPU's products have.
const std::vector<Sizes> kSizes{{1, 1, 1},    {1, 33, 3},     {33, 3, 1},      {3, 1, 33},
                                {5, 7, 9},    {33, 65, 3},    {1023, 3, 7},    {3, 1023, 33},
                                {7, 3, 1023}, {130, 33, 257}, {259, 515, 387}, {2100, 5, 3},
                                {3, 5, 3100}};

std::string text(const Sizes& s) {
  return fmt::format("{} x {} x {}", s.rows, s.inner, s.columns);
}

void on_every_dtype(const std::function<void(OpBench&)>& body) {
  on_every_device(body, {DType::f64, DType::f32, DType::bf16});
}

Tensor blank_f32(const OpBench& bench, const Shape& shape) {
  const Tensor x(bench.device(), DType::f32, shape, "test");
  x.from_doubles(Values(reference::at(shape.elements()), std::numeric_limits<double>::quiet_NaN()));
  return x;
}

}  // namespace

TEST_CASE("linear multiplies and adds the bias") {
  for (const Sizes& s : kSizes) {
    INFO(text(s));
    on_every_dtype([&s](OpBench& bench) {
      const Values x = bench.random("x", s.rows * s.inner),
                   w = bench.random("w", s.inner * s.columns), b = bench.random("bias", s.columns);
      const Tensor y = bench.blank({s.rows, s.columns});
      const Tensor x_put = bench.put({s.rows, s.inner}, x),
                   w_put = bench.put({s.inner, s.columns}, w);
      Values expected =
          product(s.rows, s.columns, s.inner, element(x, s.inner), element(w, s.columns));
      linear(y, x_put, w_put);
      bench.expect("without bias", y, expected);
      linear(y, x_put, w_put, bench.put({s.columns}, b));
      for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += b[i % b.size()];
      bench.expect("with bias", y, expected);
    });
  }
}

TEST_CASE("linear_transposed multiplies with a matrix whose rows are the outputs") {
  for (const Sizes& s : kSizes) {
    INFO(text(s));
    on_every_dtype([&s](OpBench& bench) {
      const Values x = bench.random("x", s.rows * s.inner),
                   w = bench.random("w", s.columns * s.inner);
      const Tensor y = bench.blank({s.rows, s.columns});
      linear_transposed(y, bench.put({s.rows, s.inner}, x), bench.put({s.columns, s.inner}, w));
      bench.expect(
          "y", y,
          product(s.rows, s.columns, s.inner, element(x, s.inner), transposed_element(w, s.inner)));
    });
  }
}

TEST_CASE("linear_weight_gradient sums over rows, and over calls when it accumulates") {
  for (const Sizes& s : kSizes) {
    INFO(text(s));
    on_every_dtype([&s](OpBench& bench) {
      const Values x = bench.random("x", s.inner * s.rows),
                   d_y = bench.random("d_y", s.inner * s.columns),
                   before = bench.random("before", s.rows * s.columns);
      const Tensor x_put = bench.put({s.inner, s.rows}, x),
                   d_y_put = bench.put({s.inner, s.columns}, d_y);
      const Values expected = product(s.rows, s.columns, s.inner, transposed_element(x, s.rows),
                                      element(d_y, s.columns));
      const Tensor d_w = bench.blank({s.rows, s.columns});
      linear_weight_gradient(d_w, x_put, d_y_put, false);
      bench.expect("overwritten", d_w, expected);
      const Tensor sum = bench.put({s.rows, s.columns}, before);
      linear_weight_gradient(sum, x_put, d_y_put, true);
      bench.expect("accumulated", sum, reference::plus(expected, before));
    });
  }
}

TEST_CASE("all dimensions but the last are rows") {
  on_every_dtype([](OpBench& bench) {
    const Values x = bench.random("x", 2 * 3 * 5), w = bench.random("w", 5 * 7);
    const Tensor y = bench.blank({2, 3, 7});
    linear(y, bench.put({2, 3, 5}, x), bench.put({5, 7}, w));
    bench.expect("y", y, product(6, 7, 5, element(x, 5), element(w, 7)));
  });
}

TEST_CASE("products read and write views of columns, and leave the other columns alone") {
  on_every_dtype([](OpBench& bench) {
    const std::int64_t rows = 70, inner = 5, columns = 33;
    const Values x = bench.random("x", rows * 9), w = bench.random("w", inner * 40),
                 y_before = bench.random("y", rows * 37);
    const Tensor y = bench.put({rows, 37}, y_before);
    linear(y.columns(1, 1 + columns), bench.put({rows, 9}, x).columns(3, 3 + inner),
           bench.put({inner, 40}, w).columns(7, 7 + columns));
    Values expected = y_before;
    const auto product_of_views = product(
        rows, columns, inner, [&](auto i, auto k) { return element(x, 9)(i, k + 3); },
        [&](auto k, auto j) { return element(w, 40)(k, j + 7); });
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        expected[reference::at(i * 37 + 1 + j)] = product_of_views[reference::at(i * columns + j)];
    bench.expect("y", y, expected);
  });
}

TEST_CASE("a product over nothing is zero, or changes nothing") {
  on_every_dtype([](OpBench& bench) {
    const Tensor x = bench.blank({0, 3}), d_y = bench.blank({0, 33}), d_w = bench.blank({3, 33});
    linear_weight_gradient(d_w, x, d_y, false);
    bench.expect("overwritten", d_w, reference::zeros(99));
    const Values before = bench.random("before", 99);
    d_w.from_doubles(before);
    linear_weight_gradient(d_w, x, d_y, true);
    bench.expect("accumulated", d_w, before);
  });
}

TEST_CASE("products of bf16 can leave their sums in f32, with the digits of f32") {
  for (const Sizes& s : kSizes) {
    INFO(text(s));
    on_every_device(
        [&s](OpBench& bench) {
          const Values x = bench.random("x", s.rows * s.inner),
                       w = bench.random("w", s.inner * s.columns),
                       b = bench.random("bias", s.columns);
          const Tensor w_put = bench.put({s.inner, s.columns}, w),
                       y = blank_f32(bench, {s.rows, s.columns}),
                       d_w = blank_f32(bench, {s.rows, s.columns});
          const auto expect = [&](const char* what, const Tensor& got, const Values& expected) {
            bench.expect_within(what, got, expected, 1e-5 * largest(expected));
          };
          const Values xw =
              product(s.rows, s.columns, s.inner, element(x, s.inner), element(w, s.columns));
          linear(y, bench.put({s.rows, s.inner}, x), w_put, bench.put({s.columns}, b));
          Values expected = xw;
          for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += b[i % b.size()];
          expect("linear", y, expected);
          const Values xt = bench.random("xt", s.inner * s.rows),
                       before = bench.random("before", s.rows * s.columns);
          expected = reference::plus(
              before, product(s.rows, s.columns, s.inner, transposed_element(xt, s.rows),
                              element(w, s.columns)));
          d_w.from_doubles(before);
          linear_weight_gradient(d_w, bench.put({s.inner, s.rows}, xt), w_put, true);
          expect("linear_weight_gradient", d_w, expected);
        },
        {DType::bf16});
  }
}

// 4096 (1 + 11/128) = 4448 is a bf16, and f32 has all digits on the way there. A sum kept in bf16
// would stop at 512, where one more term is a quarter of the next step; one that is rounded to bf16
// after every 256 terms would come to 4416.
TEST_CASE("products of bf16 are added up in f32") {
  constexpr std::int64_t kDepth = 4096;
  on_every_device(
      [](OpBench& bench) {
        const Values ones(kDepth, 1), more(kDepth, 1 + 11.0 / 128);
        const Tensor row = bench.put({1, kDepth}, ones), column = bench.put({kDepth, 1}, ones),
                     row_of_more = bench.put({1, kDepth}, more),
                     column_of_more = bench.put({kDepth, 1}, more);
        for (const Tensor& y : {bench.blank({1, 1}), blank_f32(bench, {1, 1})}) {
          linear(y, row, column_of_more);
          bench.expect_within("linear", y, {4448}, 0);
          linear_transposed(y, row, row_of_more);
          bench.expect_within("linear_transposed", y, {4448}, 0);
          linear_weight_gradient(y, column, column_of_more, false);
          bench.expect_within("linear_weight_gradient", y, {4448}, 0);
          linear_weight_gradient(y, column, column_of_more, true);
          bench.expect_within("accumulated", y, {8896}, 0);
        }
      },
      {DType::bf16});
}

TEST_CASE("column_sum adds up rows") {
  for (const std::int64_t rows : {1, 33, 1023})
    for (const std::int64_t columns : {1, 3, 65, 200}) {
      INFO(rows << " x " << columns);
      on_every_device([=](OpBench& bench) {
        const Values x = bench.random("x", rows * columns),
                     before = bench.random("before", columns);
        const Values expected = reference::column_sum(x, columns);
        const Tensor x_put = bench.put({rows, columns}, x), sum = bench.blank({columns});
        column_sum(sum, x_put, false);
        // A sum may come out near 0: what counts is how large sums of so many values are.
        const double allowed = bench.tolerance() * std::sqrt(static_cast<double>(rows));
        bench.expect_within("overwritten", sum, expected, allowed);
        sum.from_doubles(before);
        column_sum(sum, x_put, true);
        bench.expect_within("accumulated", sum, reference::plus(expected, before), allowed);
      });
    }
}

TEST_CASE("column_sum reads a view of columns") {
  on_every_device([](OpBench& bench) {
    const Values x = bench.random("x", 33 * 9);
    const Tensor sum = bench.blank({4});
    column_sum(sum, bench.put({33, 9}, x).columns(2, 6), false);
    const Values all = reference::column_sum(x, 9);
    bench.expect("sum", sum, Values(all.begin() + 2, all.begin() + 6));
  });
}

TEST_CASE("NaN in an operand of a product comes out") {
  on_every_dtype([](OpBench& bench) {
    Values x = bench.random("x", 33 * 65);
    x[40] = std::numeric_limits<double>::quiet_NaN();
    const Tensor y = bench.blank({33, 3});
    linear(y, bench.put({33, 65}, x), bench.put({65, 3}, bench.random("w", 65 * 3)));
    const Values got = y.to_doubles();
    for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(std::isnan(got[i]) == (i < 3));
  });
}
