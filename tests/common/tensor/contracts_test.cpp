// Every operation refuses operands that do not fit, and says which operation and what was given.
#include <algorithm>

#include "tests/common/tensor/op_bench.h"
#include "tests/support/catch.h"

using namespace shardlings;
using Fragments = std::vector<std::string>;

namespace {

struct Operands {
  MemoryLedger memory{"device"};
  WorkLedger work;
  CpuDevice device{memory, work, 1}, other_device{memory, work, 1};

  Tensor f32(const Shape& shape) { return {device, DType::f32, shape, "test"}; }
  Tensor f64(const Shape& shape) { return {device, DType::f64, shape, "test"}; }
  Tensor bf16(const Shape& shape) { return {device, DType::bf16, shape, "test"}; }
  Tensor i32(const Shape& shape) { return {device, DType::i32, shape, "test"}; }
  Tensor elsewhere(const Shape& shape, DType dtype = DType::f32) {
    return {other_device, dtype, shape, "test"};
  }
  // As large as `shape`, cut out of something wider.
  Tensor view(const Shape& shape) {
    return f32(shape.with_last(shape.last() + 1)).columns(0, shape.last());
  }
};

struct Case {
  Fragments message;  // the operation first
  std::function<void()> call;
};

void check(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    std::string message = "nothing was thrown";
    ExitCode code = ExitCode::ok;
    try {
      c.call();
    } catch (const Error& error) {
      message = error.what();
      code = error.code();
    }
    for (std::size_t i = 0; i < c.message.size(); ++i) {
      INFO("'" << c.message[i] << "' in: " << message);
      const std::size_t where = message.find(c.message[i]);
      REQUIRE((i == 0 ? where == 0 : where != std::string::npos));
    }
    REQUIRE(code == ExitCode::broken);
  }
}

}  // namespace

TEST_CASE("contracts of products") {
  Operands t;
  const Tensor y = t.f32({2, 3, 7}), x = t.f32({2, 3, 5}), w = t.f32({5, 7});
  check({
      {{"linear: ", "(6 x 5) times (4 x 7)"},
       [&] {
         linear(y, x, t.f32({4, 7}));
       }},
      {{"linear: ", "6 x 8"},
       [&] {
         linear(t.f32({6, 8}), x, w);
       }},
      {{"linear: ", "5 x 7"},
       [&] {
         linear(t.f32({5, 7}), x, w);
       }},
      {{"linear: ", "per column of 5 x 7", "6"}, [&] { linear(y, x, w, t.f32({6})); }},
      {{"linear: ", "a view of 7 x 1"},
       [&] {
         linear(y, x, w, t.view({7, 1}));
       }},
      {{"linear: ", "of f32", "5 x 7 of f64"},
       [&] {
         linear(y, x, t.f64({5, 7}));
       }},
      {{"linear: ", "of f32", "7 of f64"}, [&] { linear(y, x, w, t.f64({7})); }},
      {{"linear: ", "5 x 7", "two devices"},
       [&] {
         linear(y, x, t.elsewhere({5, 7}));
       }},
      {{"linear: ", "two devices"}, [&] { linear(y, x, w, t.elsewhere({7})); }},
      {{"linear: ", "missing"}, [&] { linear(y, {}, w); }},
      {{"linear: ", "missing"}, [&] { linear({}, x, w); }},
      {{"linear: ", "6 of i32"}, [&] { linear(t.i32({6}), t.i32({6}), t.i32({6})); }},
      {{"linear_transposed: ", "(6 x 7) times (6 x 5)"},
       [&] {
         linear_transposed(x, y, t.f32({5, 6}));
       }},
      {{"linear_transposed: ", "of f64"},
       [&] {
         linear_transposed(x, y, t.f64({5, 7}));
       }},
      {{"linear_weight_gradient: ", "(5 x 6) times (4 x 7)"},
       [&] {
         linear_weight_gradient(w, x, t.f32({4, 7}), true);
       }},
      {{"linear_weight_gradient: ", "of f64"},
       [&] {
         linear_weight_gradient(w, x, t.f64({6, 7}), true);
       }},
      {{"linear: ", "6 x 7 of f64 and 2 x 3 x 5 of bf16"},
       [&] {
         linear(t.f64({6, 7}), t.bf16({2, 3, 5}), t.bf16({5, 7}));
       }},
      {{"linear: ", "f32 or f64 expected, got 6 x 7 of bf16"},
       [&] {
         linear(t.bf16({6, 7}), x, w);
       }},
      {{"linear: ", "5 x 7 of bf16 and 7 of f32"},
       [&] {
         linear(y, t.bf16({2, 3, 5}), t.bf16({5, 7}), t.f32({7}));
       }},
      {{"linear: ", "missing"},
       [&] {
         linear({}, t.bf16({2, 3, 5}), t.bf16({5, 7}));
       }},
      {{"linear_transposed: ", "6 x 7 of bf16 and 5 x 7 of f32"},
       [&] {
         linear_transposed(x, t.bf16({6, 7}), w);
       }},
      {{"linear_weight_gradient: ", "5 x 7 of f32 and 6 x 7 of bf16"},
       [&] {
         linear_weight_gradient(w, x, t.bf16({6, 7}), true);
       }},
      {{"column_sum: ", "per column of 2 x 3 x 5", "got 6"},
       [&] { column_sum(t.f32({6}), x, false); }},
      {{"column_sum: ", "of f64"}, [&] { column_sum(t.f64({5}), x, false); }},
      {{"column_sum: ", "a view of 5 x 1"},
       [&] {
         column_sum(t.view({5, 1}), x, false);
       }},
  });
}

TEST_CASE("contracts of element-wise operations") {
  Operands t;
  const Tensor x = t.f32({6, 4}), wrong = t.f32({4, 6}), view = t.view({6, 4});
  const Fragments shapes{"6 x 4 against 4 x 6"}, viewed{"a view of 6 x 4"};
  const std::vector<std::pair<std::string, std::function<void(const Tensor&)>>> binary{
      {"add: ", [&](const Tensor& y) { add(x, y, x); }},
      {"add: ", [&](const Tensor& y) { add(x, x, y); }},
      {"maximum: ", [&](const Tensor& y) { maximum(x, y, x); }},
      {"maximum: ", [&](const Tensor& y) { maximum(x, x, y); }},
      {"add_scaled: ", [&](const Tensor& y) { add_scaled(x, y, 1); }},
      {"gelu: ", [&](const Tensor& y) { gelu(x, y); }},
      {"gelu_backward: ", [&](const Tensor& y) { gelu_backward(x, y, x); }},
      {"gelu_backward: ", [&](const Tensor& y) { gelu_backward(x, x, y); }},
      {"adamw: ", [&](const Tensor& y) { adamw(x, y, x, x, {}); }},
      {"adamw: ", [&](const Tensor& y) { adamw(x, x, y, x, {}); }},
      {"adamw: ", [&](const Tensor& y) { adamw(x, x, x, y, {}); }},
  };
  for (const auto& [name, call] : binary)
    check({
        {{name, "6 x 4 against 4 x 6"}, [&] { call(wrong); }},
        {{name, "a view of 6 x 4"}, [&] { call(view); }},
        {{name, "6 x 4 of f32 and 6 x 4 of f64"},
         [&] {
           call(t.f64({6, 4}));
         }},
        {{name, "two devices"},
         [&] {
           call(t.elsewhere({6, 4}));
         }},
        {{name, "missing"}, [&] { call({}); }},
    });
  const std::vector<std::pair<std::string, std::function<void(const Tensor&)>>> unary{
      {"fill: ", [](const Tensor& y) { fill(y, 1); }},
      {"scale: ", [](const Tensor& y) { scale(y, 1); }},
      {"sum: ", [](const Tensor& y) { sum(y); }},
      {"sum_of_squares: ", [](const Tensor& y) { sum_of_squares(y); }},
      {"clone: ", [](const Tensor& y) { clone(y, "copy"); }},
  };
  for (const auto& [name, call] : unary)
    check({
        {{name, "a view of 6 x 4"}, [&] { call(view); }},
        {{name, "missing"}, [&] { call({}); }},
        {{name, "f32 or f64 expected, got 3 of i32"}, [&] { call(t.i32({3})); }},
    });
  check({{{"adamw: ", "step 1, got 0"}, [&] { adamw(x, x, x, x, {.step = 0}); }}});
}

TEST_CASE("contracts of cast") {
  Operands t;
  const Tensor x = t.f32({6, 4}), y = t.bf16({6, 4});
  check({
      {{"cast: ", "6 x 4 expected, got 6 x 5"},
       [&] {
         cast(y, t.f32({6, 5}));
       }},
      {{"cast: ", "a view of 6 x 4"},
       [&] {
         cast(y, t.view({6, 4}));
       }},
      {{"cast: ", "a view of 6 x 4"},
       [&] {
         cast(t.view({6, 4}), y);
       }},
      {{"cast: ", "f32, f64 or bf16 expected, got 6 x 4 of i32"},
       [&] {
         cast(y, t.i32({6, 4}));
       }},
      {{"cast: ", "f32, f64 or bf16 expected, got 6 x 4 of i32"},
       [&] {
         cast(t.i32({6, 4}), x);
       }},
      {{"cast: ", "two devices"},
       [&] {
         cast(y, t.elsewhere({6, 4}));
       }},
      {{"cast: ", "missing"}, [&] { cast(y, {}); }},
      {{"cast: ", "missing"}, [&] { cast({}, x); }},
  });
}

TEST_CASE("products and cast take bf16, and nothing else does") {
  Operands t;
  const Tensor x = t.bf16({2, 5, 6}), i = t.i32({10});
  const std::vector<std::pair<std::string, std::function<void()>>> calls{
      {"column_sum: ", [&] { column_sum(x, x, false); }},
      {"fill: ", [&] { fill(x, 1); }},
      {"scale: ", [&] { scale(x, 1); }},
      {"add: ", [&] { add(x, x, x); }},
      {"maximum: ", [&] { maximum(x, x, x); }},
      {"add_scaled: ", [&] { add_scaled(x, x, 1); }},
      {"gelu: ", [&] { gelu(x, x); }},
      {"gelu_backward: ", [&] { gelu_backward(x, x, x); }},
      {"sum: ", [&] { sum(x); }},
      {"sum_of_squares: ", [&] { sum_of_squares(x); }},
      {"layer_norm: ", [&] { layer_norm(x, x, x, x, x, x); }},
      {"layer_norm_backward: ", [&] { layer_norm_backward(x, x, x, x, x, x, x, x, false); }},
      {"embedding: ", [&] { embedding(x, x, x, i, i); }},
      {"scatter_add_rows: ", [&] { scatter_add_rows(x, x, i); }},
      {"cross_entropy: ", [&] { cross_entropy(x, x, x, i, x); }},
      {"cross_entropy_backward: ", [&] { cross_entropy_backward(x, x, i, x, 1); }},
      {"attention: ", [&] { attention(x, x, x, x, x, 3); }},
      {"attention_backward: ", [&] { attention_backward(x, x, x, x, x, x, x, x, x, 3); }},
      {"adamw: ", [&] { adamw(x, x, x, x, {}); }},
      {"clone: ", [&] { clone(x, "copy"); }},
  };
  for (const auto& [name, call] : calls)
    check({{{name, "f32 or f64 expected, got 2 x 5 x 6 of bf16"}, call}});
  // Each of them asks with_real_type once more, for whoever gives operations to a device directly.
  check({{{"this operation needs f32 or f64, got bf16"}, [&] {
            t.device.launch(
                Fill{.dtype = DType::bf16, .y = x.data(), .value = 1, .count = x.elements()});
          }}});
  check({{{"a product of f32 does not give bf16"}, [&] {
            const MatrixRef m = x.matrix();
            t.device.launch(
                Matmul{.dtype = DType::f32, .c_dtype = DType::bf16, .c = m, .a = m, .b = m});
          }}});
}

TEST_CASE("contracts of row-wise operations") {
  Operands t;
  const Tensor x = t.f32({6, 4}), row = t.f32({6}), w = t.f32({4}), i = t.i32({6});
  const auto norm = [&](const Tensor& y, const Tensor& mean, const Tensor& s, const Tensor& weight,
                        const Tensor& bias) { layer_norm(y, mean, s, x, weight, bias); };
  const auto back = [&](const Tensor& d_weight, const Tensor& d_bias, const Tensor& mean,
                        const Tensor& s, const Tensor& weight, const Tensor& d_y) {
    layer_norm_backward(x, d_weight, d_bias, x, mean, s, weight, d_y, false);
  };
  const Tensor five = t.f32({5}), f64 = t.f64({6});
  check({
      {{"layer_norm: ", "5 x 4 against 6 x 4"},
       [&] {
         norm(t.f32({5, 4}), row, row, w, w);
       }},
      {{"layer_norm: ", "row of 6 x 4", "5"}, [&] { norm(x, five, row, w, w); }},
      {{"layer_norm: ", "row of 6 x 4", "5"}, [&] { norm(x, row, five, w, w); }},
      {{"layer_norm: ", "column of 6 x 4", "5"}, [&] { norm(x, row, row, five, w); }},
      {{"layer_norm: ", "column of 6 x 4", "5"}, [&] { norm(x, row, row, w, five); }},
      {{"layer_norm: ", "f64"}, [&] { norm(x, f64, row, w, w); }},
      {{"layer_norm_backward: ", "column of 6 x 4", "5"}, [&] { back(five, w, row, row, w, x); }},
      {{"layer_norm_backward: ", "column of 6 x 4", "5"}, [&] { back(w, five, row, row, w, x); }},
      {{"layer_norm_backward: ", "row of 6 x 4", "5"}, [&] { back(w, w, five, row, w, x); }},
      {{"layer_norm_backward: ", "row of 6 x 4", "5"}, [&] { back(w, w, row, five, w, x); }},
      {{"layer_norm_backward: ", "column of 6 x 4", "5"}, [&] { back(w, w, row, row, five, x); }},
      {{"layer_norm_backward: ", "6 x 4 against 4"}, [&] { back(w, w, row, row, w, w); }},

      {{"embedding: ", "6 x 4", "9 x 5"},
       [&] {
         embedding(x, t.f32({9, 5}), x, i, i);
       }},
      {{"embedding: ", "6 x 4", "9 x 5"},
       [&] {
         embedding(x, x, t.f32({9, 5}), i, i);
       }},
      {{"embedding: ", "a view of 6 x 4"},
       [&] {
         embedding(x, t.view({6, 4}), x, i, i);
       }},
      {{"embedding: ", "a view of 6 x 4"},
       [&] {
         embedding(t.view({6, 4}), x, x, i, i);
       }},
      {{"embedding: ", "indices 6 are i32, got f32"}, [&] { embedding(x, x, x, row, i); }},
      {{"embedding: ", "row of 6 x 4", "7"}, [&] { embedding(x, x, x, i, t.i32({7})); }},
      {{"embedding: ", "two devices"},
       [&] { embedding(x, x, x, i, t.elsewhere({6}, DType::i32)); }},
      {{"scatter_add_rows: ", "6 x 4", "9 x 5"},
       [&] {
         scatter_add_rows(t.f32({9, 5}), x, i);
       }},
      {{"scatter_add_rows: ", "a view of 6 x 4"},
       [&] {
         scatter_add_rows(x, t.view({6, 4}), i);
       }},
      {{"scatter_add_rows: ", "a view of 6 x 4"},
       [&] {
         scatter_add_rows(t.view({6, 4}), x, i);
       }},
      {{"scatter_add_rows: ", "row of 6 x 4", "7"}, [&] { scatter_add_rows(x, x, t.i32({7})); }},
  });

  const Tensor view = t.view({6, 4});
  check({
      {{"cross_entropy: ", "row of 6 x 4", "5"}, [&] { cross_entropy(five, row, x, i, row); }},
      {{"cross_entropy: ", "row of 6 x 4", "5"}, [&] { cross_entropy(row, five, x, i, row); }},
      {{"cross_entropy: ", "row of 6 x 4", "5"}, [&] { cross_entropy(row, row, x, i, five); }},
      {{"cross_entropy: ", "row of 6 x 4", "5"},
       [&] { cross_entropy(row, row, x, t.i32({5}), row); }},
      {{"cross_entropy: ", "i32, got f32"}, [&] { cross_entropy(row, row, x, row, row); }},
      {{"cross_entropy: ", "a view of 6 x 4"}, [&] { cross_entropy(row, row, view, i, row); }},
      {{"cross_entropy: ", "of f64"}, [&] { cross_entropy(row, row, x, i, f64); }},
      {{"cross_entropy_backward: ", "row of 6 x 4", "5"},
       [&] { cross_entropy_backward(x, five, i, row, 1); }},
      {{"cross_entropy_backward: ", "row of 6 x 4", "5"},
       [&] { cross_entropy_backward(x, row, i, five, 1); }},
      {{"cross_entropy_backward: ", "i32, got f32"},
       [&] { cross_entropy_backward(x, row, row, row, 1); }},
      {{"cross_entropy_backward: ", "a view of 6 x 4"},
       [&] { cross_entropy_backward(view, row, i, row, 1); }},
  });
}

TEST_CASE("contracts of attention") {
  Operands t;
  const Tensor q = t.f32({2, 5, 6}), k = t.f32({2, 7, 6}), lse = t.f32({2, 3, 5});
  const Tensor wide = t.f32({2, 7, 9}), flat = t.f32({10, 6});
  const auto forward = [&](const Tensor& o, const Tensor& log_sum_exp, const Tensor& keys,
                           const Tensor& v, std::int64_t H, const Tensor& stored = {}) {
    attention(o, log_sum_exp, q, keys, v, H, {}, stored);
  };
  check({
      {{"attention: ", "queries 2 x 5 x 6", "keys 2 x 7 x 9"},
       [&] { forward(q, lse, wide, k, 3); }},
      {{"attention: ", "queries 2 x 5 x 6", "keys 3 x 7 x 6"},
       [&] {
         forward(q, lse, t.f32({3, 7, 6}), k, 3);
       }},
      {{"attention: ", "keys 10 x 6"}, [&] { forward(q, lse, flat, k, 3); }},
      {{"attention: ", "2 x 5 x 6", "4 heads"}, [&] { forward(q, lse, k, k, 4); }},
      {{"attention: ", "2 x 5 x 6", "0 heads"}, [&] { forward(q, lse, k, k, 0); }},
      {{"attention: ", "o 2 x 7 x 6 against q 2 x 5 x 6"}, [&] { forward(k, lse, k, k, 3); }},
      {{"attention: ", "v 2 x 5 x 6 against k 2 x 7 x 6"}, [&] { forward(q, lse, k, q, 3); }},
      {{"attention: ", "2 x 3 x 5 expected, got 2 x 3 x 4"},
       [&] {
         forward(q, t.f32({2, 3, 4}), k, k, 3);
       }},
      {{"attention: ", "2 x 3 x 5 x 7 expected, got 2 x 3 x 5"},
       [&] { forward(q, lse, k, k, 3, lse); }},
      {{"attention: ", "of f64"},
       [&] {
         forward(q, lse, k, k, 3, t.f64({2, 3, 5, 7}));
       }},
      {{"attention: ", "two devices"},
       [&] {
         forward(q, lse, k, k, 3, t.elsewhere({2, 3, 5, 7}));
       }},
      {{"attention: ", "of f64"},
       [&] {
         forward(q, t.f64({2, 3, 5}), k, k, 3);
       }},
  });

  // All operands of backward in its order: d_q d_k d_v q k v o log_sum_exp d_o.
  const std::vector<Tensor> right{q, k, k, q, k, k, q, lse, q};
  const auto backward = [](const std::vector<Tensor>& x, std::int64_t H,
                           const Tensor& stored = {}) {
    attention_backward(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], H, {}, stored);
  };
  for (std::size_t operand = 0; operand < right.size(); ++operand) {
    INFO("operand " << operand);
    const auto with = [&](const Tensor& wrong) {
      std::vector<Tensor> operands = right;
      operands[operand] = wrong;
      return operands;
    };
    check({
        {{"attention_backward: ", "2 x 4 x 6"},
         [&] {
           backward(with(t.f32({2, 4, 6})), 3);
         }},
        {{"attention_backward: ", "f64"},
         [&] { backward(with(t.f64(right[operand].shape())), 3); }},
        {{"attention_backward: ", "two devices"},
         [&] { backward(with(t.elsewhere(right[operand].shape())), 3); }},
        {{"attention_backward: ", "missing"}, [&] { backward(with({}), 3); }},
    });
  }
  check({
      {{"attention_backward: ", "2 x 5 x 6", "4 heads"}, [&] { backward(right, 4); }},
      {{"attention_backward: ", "2 x 3 x 5 x 7 expected, got 2 x 3 x 5"},
       [&] { backward(right, 3, lse); }},
      {{"attention_backward: ", "two devices"},
       [&] {
         backward(right, 3, t.elsewhere({2, 3, 5, 7}));
       }},
  });
}
