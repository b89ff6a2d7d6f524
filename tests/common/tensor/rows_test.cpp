// Row-wise operations: layer norm, embedding, cross-entropy.
#include "base/random.h"
#include "tests/common/tensor/op_bench.h"
#include "tests/support/catch.h"

using namespace shardlings;
using reference::Indices;
using reference::Values;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Sizes {
  std::int64_t rows, width;
};

// The last has more elements than one task of the CPU.
const std::vector<Sizes> kSizes{{1, 1}, {1, 33}, {3, 3}, {33, 17}, {7, 1023}, {1023, 33}};

void for_each_size(const std::function<void(OpBench&, std::int64_t, std::int64_t)>& body) {
  for (const Sizes& s : kSizes) {
    INFO(s.rows << " x " << s.width);
    on_every_device([&](OpBench& bench) { body(bench, s.rows, s.width); });
  }
}

// `count` indices below `bound`, some of them equal.
Indices random_indices(const std::string& name, std::int64_t count, std::int64_t bound) {
  const RandomStream stream(1, name);
  Indices indices;
  for (std::int64_t i = 0; i < count; ++i)
    indices.push_back(static_cast<std::int32_t>(
        stream.below(static_cast<std::uint64_t>(bound), static_cast<std::uint64_t>(i))));
  return indices;
}

double largest_of(const Values& values) {
  double largest = 0;
  for (const double v : values) largest = std::max(largest, std::abs(v));
  return largest;
}

}  // namespace

// ---- layer norm ---------------------------------------------------------------------------------

TEST_CASE("layer_norm: forward") {
  for_each_size([](OpBench& bench, std::int64_t rows, std::int64_t D) {
    const Values x = bench.random("x", rows * D, 3), weight = bench.random("weight", D),
                 bias = bench.random("bias", D);
    const Tensor y = bench.blank({rows, D}), mean = bench.blank({rows}), s = bench.blank({rows});
    layer_norm(y, mean, s, bench.put({rows, D}, x), bench.put({D}, weight), bench.put({D}, bias));
    const reference::LayerNorm expected = reference::layer_norm(x, weight, bias, D);
    bench.expect("y", y, expected.y);
    bench.expect("mean", mean, expected.mean);
    bench.expect("inverse deviation", s, expected.inverse_deviation);
  });
}

TEST_CASE("layer_norm: backward, its weight gradients overwritten and accumulated") {
  for_each_size([](OpBench& bench, std::int64_t rows, std::int64_t D) {
    const Values x = bench.random("x", rows * D, 3), weight = bench.random("weight", D),
                 d_y = bench.random("d_y", rows * D), before = bench.random("before", D);
    const Tensor x_put = bench.put({rows, D}, x), weight_put = bench.put({D}, weight),
                 d_y_put = bench.put({rows, D}, d_y), y = bench.blank({rows, D}),
                 mean = bench.blank({rows}), s = bench.blank({rows}), d_x = bench.blank({rows, D}),
                 d_weight = bench.blank({D}), d_bias = bench.blank({D});
    layer_norm(y, mean, s, x_put, weight_put, bench.put({D}, reference::zeros(D)));
    const auto expected = reference::layer_norm_backward(x, weight, d_y, D);
    // A row of one element has deviation 0, so that d_x is a difference of huge equal terms.
    const double d_x_allowed =
        bench.tolerance() * std::max(largest_of(expected.d_x), D == 1 ? 1e3 : 0.0);

    layer_norm_backward(d_x, d_weight, d_bias, x_put, mean, s, weight_put, d_y_put, false);
    bench.expect_within("d_x", d_x, expected.d_x, d_x_allowed);
    bench.expect("d_weight", d_weight, expected.d_weight);
    bench.expect("d_bias", d_bias, expected.d_bias);

    d_x.from_doubles(Values(x.size(), kNaN));
    d_weight.from_doubles(before);
    d_bias.from_doubles(before);
    layer_norm_backward(d_x, d_weight, d_bias, x_put, mean, s, weight_put, d_y_put, true);
    bench.expect_within("d_x is never accumulated", d_x, expected.d_x, d_x_allowed);
    bench.expect("d_weight accumulated", d_weight, reference::plus(expected.d_weight, before));
    bench.expect("d_bias accumulated", d_bias, reference::plus(expected.d_bias, before));
  });
}

TEST_CASE("layer_norm: d_x may be written over d_y") {
  on_every_device([](OpBench& bench) {
    const std::int64_t rows = 5, D = 33;
    const Values x = bench.random("x", rows * D), weight = bench.random("weight", D),
                 d_y = bench.random("d_y", rows * D);
    const Tensor x_put = bench.put({rows, D}, x), weight_put = bench.put({D}, weight),
                 d = bench.put({rows, D}, d_y), y = bench.blank({rows, D}),
                 mean = bench.blank({rows}), s = bench.blank({rows}), d_weight = bench.blank({D}),
                 d_bias = bench.blank({D});
    layer_norm(y, mean, s, x_put, weight_put, bench.put({D}, reference::zeros(D)));
    layer_norm_backward(d, d_weight, d_bias, x_put, mean, s, weight_put, d, false);
    const auto expected = reference::layer_norm_backward(x, weight, d_y, D);
    bench.expect("d_x", d, expected.d_x);
    bench.expect("d_weight", d_weight, expected.d_weight);
    bench.expect("d_bias", d_bias, expected.d_bias);
  });
}

TEST_CASE("layer_norm: a large mean costs no more digits than rounding it does") {
  on_every_device([](OpBench& bench) {
    const std::int64_t rows = 7, D = 129;
    const double mean_of_rows = 1e3;
    Values x = bench.random("x", rows * D);
    for (double& v : x) v += mean_of_rows;
    x = bench.rounded(x);
    const Values weight(reference::at(D), 1.0), bias = reference::zeros(D);
    const Tensor y = bench.blank({rows, D}), mean = bench.blank({rows}), s = bench.blank({rows});
    layer_norm(y, mean, s, bench.put({rows, D}, x), bench.put({D}, weight), bench.put({D}, bias));
    const reference::LayerNorm expected = reference::layer_norm(x, weight, bias, D);
    const double epsilon = bench.dtype() == DType::f64 ? 1e-16 : 1e-7;
    bench.expect_within("y", y, expected.y, 4 * epsilon * mean_of_rows);
    // The variance of a one-pass form, E[x^2] - E[x]^2, would be off by epsilon * mean^2.
    bench.expect_within("inverse deviation", s, expected.inverse_deviation,
                        4 * epsilon * mean_of_rows);
  });
}

TEST_CASE("layer_norm: NaN stays in its row") {
  on_every_device([](OpBench& bench) {
    Values x = bench.random("x", 3 * 33);
    x[33 + 5] = kNaN;
    const Tensor y = bench.blank({3, 33}), mean = bench.blank({3}), s = bench.blank({3}),
                 one = bench.put({33}, Values(33, 1.0));
    layer_norm(y, mean, s, bench.put({3, 33}, x), one, one);
    const Values got = y.to_doubles();
    for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(std::isnan(got[i]) == (i / 33 == 1));
  });
}

// ---- embedding ----------------------------------------------------------------------------------

TEST_CASE("embedding adds the rows of two tables") {
  for_each_size([](OpBench& bench, std::int64_t rows, std::int64_t D) {
    const std::int64_t V = 11, T = 5;
    const Values tokens = bench.random("tokens", V * D),
                 positions = bench.random("positions", T * D);
    const Indices token = random_indices("token", rows, V),
                  position = random_indices("position", rows, T);
    const Tensor x = bench.blank({rows, D});
    embedding(x, bench.put({V, D}, tokens), bench.put({T, D}, positions), bench.put({rows}, token),
              bench.put({rows}, position));
    Values expected;
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t i = 0; i < D; ++i)
        expected.push_back(tokens[reference::at(token[reference::at(r)] * D + i)] +
                           positions[reference::at(position[reference::at(r)] * D + i)]);
    bench.expect("x", x, expected);
  });
}

TEST_CASE("scatter_add_rows adds every row, also where indices are equal") {
  for_each_size([](OpBench& bench, std::int64_t rows, std::int64_t D) {
    const std::int64_t V = 11;
    const Values d_x = bench.random("d_x", rows * D);
    const Indices index = random_indices("index", rows, V);
    Values expected = bench.random("before", V * D);
    const Tensor d_table = bench.put({V, D}, expected);
    scatter_add_rows(d_table, bench.put({rows, D}, d_x), bench.put({rows}, index));
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t i = 0; i < D; ++i)
        expected[reference::at(index[reference::at(r)] * D + i)] += d_x[reference::at(r * D + i)];
    bench.expect("d_table", d_table, expected);
  });
}

// ---- cross-entropy ------------------------------------------------------------------------------

namespace {

void check_cross_entropy(OpBench& bench, const Values& logits, const Indices& target,
                         const Values& weight, std::int64_t V) {
  const auto rows = static_cast<std::int64_t>(target.size());
  const double scale = 0.125;
  const Tensor x = bench.put({rows, V}, logits), target_put = bench.put({rows}, target),
               weight_put = bench.put({rows}, weight), loss = bench.blank({rows}),
               log_sum_exp = bench.blank({rows});
  const auto expected = reference::cross_entropy(logits, target, weight, scale, V);
  // A loss is the difference of two numbers as large as the logits are.
  const double allowed = bench.tolerance() * std::max(1.0, largest_of(logits));
  cross_entropy(loss, log_sum_exp, x, target_put, weight_put);
  bench.expect_within("loss", loss, expected.loss, allowed);
  bench.expect_within("log-sum-exp", log_sum_exp, expected.log_sum_exp, allowed);
  cross_entropy_backward(x, log_sum_exp, target_put, weight_put, scale);
  bench.expect_within("d_logits", x, expected.d_logits, scale * largest_of(weight) * allowed);
}

}  // namespace

TEST_CASE("cross_entropy: loss and gradient, some rows masked by weight 0") {
  for_each_size([](OpBench& bench, std::int64_t rows, std::int64_t V) {
    Values weight;
    for (std::int64_t r = 0; r < rows; ++r) weight.push_back(r % 3 == 1 ? 0 : r % 3 == 2 ? 0.5 : 1);
    check_cross_entropy(bench, bench.random("logits", rows * V, 4),
                        random_indices("target", rows, V), weight, V);
  });
}

TEST_CASE("cross_entropy: a masked row has loss 0 and gradient 0") {
  on_every_device([](OpBench& bench) {
    Values logits = bench.random("logits", 66);
    logits[3] = -std::numeric_limits<double>::infinity();  // even where the target is impossible
    const Tensor x = bench.put({2, 33}, logits), loss = bench.blank({2}),
                 log_sum_exp = bench.blank({2}), target = bench.put({2}, Indices{3, 4}),
                 weight = bench.put({2}, Values{0, 0});
    cross_entropy(loss, log_sum_exp, x, target, weight);
    bench.expect_within("loss", loss, {0, 0}, 0);
    cross_entropy_backward(x, log_sum_exp, target, weight, 1);
    bench.expect_within("d_logits", x, Values(66, 0.0), 0);
  });
}

TEST_CASE("cross_entropy: logits of 1e4 and -1e4 neither overflow nor lose the loss") {
  on_every_device([](OpBench& bench) {
    for (const double level : {1e4, -1e4}) {
      Values logits = bench.random("logits", 3 * 65);
      for (double& v : logits) v += level;
      check_cross_entropy(bench, bench.rounded(logits), {0, 33, 64}, {1, 1, 1}, 65);
    }
    // One logit far above the others: loss 0 where it is the target, 2e4 where it is not.
    Values logits(2 * 33, -1e4);
    logits[5] = logits[33 + 5] = 1e4;
    check_cross_entropy(bench, logits, {5, 6}, {1, 1}, 33);
  });
}

TEST_CASE("cross_entropy: the largest logit is found wherever it stands") {
  // exp overflows where it is missed.
  for (std::int64_t V = 1; V < 50; ++V)
    on_every_device([V](OpBench& bench) {
      Values logits(reference::at(V * V), -2e3);
      Indices target;
      for (std::int64_t r = 0; r < V; ++r) {
        logits[reference::at(r * V + r)] = 2e3;
        target.push_back(static_cast<std::int32_t>(r));
      }
      check_cross_entropy(bench, logits, target, Values(reference::at(V), 1.0), V);
    });
}

TEST_CASE("cross_entropy: logits of -infinity count for nothing, even thousands in a row") {
  on_every_device([](OpBench& bench) {
    const std::int64_t V = 5000;
    Values logits = bench.random("logits", V);
    std::fill_n(logits.begin(), 3000, -std::numeric_limits<double>::infinity());
    check_cross_entropy(bench, logits, {4000}, {1}, V);
  });
}

TEST_CASE("cross_entropy: equal logits cost ln V") {
  on_every_device([](OpBench& bench) {
    const Tensor loss = bench.blank({1}), log_sum_exp = bench.blank({1});
    cross_entropy(loss, log_sum_exp, bench.put({1, 256}, Values(256, 7.0)),
                  bench.put({1}, Indices{255}), bench.put({1}, Values{1}));
    bench.expect("loss", loss, {std::log(256)});
  });
}

TEST_CASE("cross_entropy: NaN comes out of its own row") {
  // Wherever it stands in the row: maxima are easily blind to NaN.
  for (const std::size_t where : {0, 1, 15, 16, 31, 32, 39}) {
    on_every_device([where](OpBench& bench) {
      Values logits = bench.random("logits", 2 * 40);
      logits[where] = kNaN;
      const Tensor x = bench.put({2, 40}, logits), loss = bench.blank({2}),
                   log_sum_exp = bench.blank({2}), target = bench.put({2}, Indices{20, 20}),
                   weight = bench.put({2}, Values{1, 1});
      cross_entropy(loss, log_sum_exp, x, target, weight);
      for (const Tensor& result : {loss, log_sum_exp}) {
        const Values got = result.to_doubles();
        REQUIRE(std::isnan(got[0]));
        REQUIRE(std::isfinite(got[1]));
      }
      cross_entropy_backward(x, log_sum_exp, target, weight, 1);
      const Values got = x.to_doubles();
      for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(std::isnan(got[i]) == (i < 40));
    });
  }
}
