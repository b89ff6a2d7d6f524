// FLOPs as the operations count them, against counts by hand.
#include "tests/common/tensor/op_bench.h"
#include "tests/support/catch.h"

using namespace shardlings;
using reference::AttentionCase;

namespace {

class Counter {
 public:
  Tensor tensor(const Shape& shape) { return Tensor(device_, DType::f32, shape, "test"); }
  // What `function` adds to the ledger.
  Work of(const std::function<void()>& function) {
    const Work before = work_.total();
    function();
    return work_.total() - before;
  }

 private:
  MemoryLedger memory_{"device"};
  WorkLedger work_;
  CpuDevice device_{memory_, work_, 1};
};

Work products(std::int64_t multiply_adds) {
  return {.model_flops = 2 * multiply_adds, .executed_flops = 2 * multiply_adds};
}

}  // namespace

TEST_CASE("products count two FLOPs per multiply-add") {
  Counter count;
  const Tensor x = count.tensor({2, 3, 5}), w = count.tensor({5, 7}), y = count.tensor({2, 3, 7}),
               bias = count.tensor({7});
  for (const Tensor& t : {x, w, y, bias}) fill(t, 1);
  CHECK(count.of([&] { linear(y, x, w, bias); }) == products(6 * 5 * 7));
  CHECK(count.of([&] { linear_transposed(x, y, w); }) == products(6 * 5 * 7));
  CHECK(count.of([&] { linear_weight_gradient(w, x, y, true); }) == products(6 * 5 * 7));
}

TEST_CASE("element-wise and row-wise operations count nothing") {
  Counter count;
  const Tensor x = count.tensor({6, 5}), w = count.tensor({5}), row = count.tensor({6});
  for (const Tensor& t : {x, w, row}) fill(t, 1);
  CHECK(count.of([&] {
    add(x, x, x);
    gelu(x, x);
    column_sum(w, x, false);
    layer_norm(x, row, row, x, w, w);
    sum(x);
    clone(x, "copy");
  }) == Work{});
}

TEST_CASE("attention counts all pairs for the model, and the visible ones as executed") {
  const std::vector<AttentionCase> cases{
      {.B = 2, .queries = 7, .keys = 7, .H = 3, .K = 5},
      {.B = 1, .queries = 1, .keys = 1, .H = 1, .K = 1},
      {.B = 2, .queries = 5, .keys = 9, .H = 3, .K = 2, .query_offset = 4},
      {.B = 2, .queries = 5, .keys = 9, .H = 3, .K = 2, .query_offset = 100},
      {.B = 2, .queries = 5, .keys = 9, .H = 3, .K = 2, .key_offset = 3},
      {.B = 2, .queries = 5, .keys = 9, .H = 3, .K = 2, .key_offset = 5},
      {.B = 1, .queries = 70, .keys = 300, .H = 1, .K = 2, .query_offset = 50, .key_offset = 10},
  };
  for (const AttentionCase& a : cases) {
    std::int64_t visible = 0;
    reference::each_row(a, [&](auto, auto, auto i) {
      for (std::int64_t j = 0; j < a.keys; ++j) visible += a.sees(i, j);
    });
    const std::int64_t all = a.B * a.H * a.queries * a.keys, pair = 2 * a.K;

    Counter count;
    const Shape of_queries{a.B, a.queries, a.D()}, of_keys{a.B, a.keys, a.D()};
    const Tensor q = count.tensor(of_queries), o = count.tensor(of_queries),
                 d_q = count.tensor(of_queries), k = count.tensor(of_keys),
                 v = count.tensor(of_keys), d_k = count.tensor(of_keys),
                 d_v = count.tensor(of_keys), log_sum_exp = count.tensor({a.B, a.H, a.queries}),
                 probabilities = count.tensor({a.B, a.H, a.queries, a.keys});
    for (const Tensor& t : {q, o, k, v, log_sum_exp, probabilities}) fill(t, 0);
    const AttentionOffsets offsets{a.query_offset, a.key_offset};
    // Forward q k^T and p v; backward p^T d_o, d_o v^T, d_s k, d_s^T q, and q k^T once more.
    CHECK(count.of([&] { attention(o, log_sum_exp, q, k, v, a.H, offsets); }) ==
          Work{.model_flops = 2 * pair * all, .executed_flops = 2 * pair * visible});
    const auto backward = [&](const Tensor& stored) {
      return count.of([&] {
        attention_backward(d_q, d_k, d_v, q, k, v, o, log_sum_exp, o, a.H, offsets, stored);
      });
    };
    CHECK(backward({}) ==
          Work{.model_flops = 4 * pair * all, .executed_flops = 5 * pair * visible});
    CHECK(backward(probabilities) ==
          Work{.model_flops = 4 * pair * all, .executed_flops = 4 * pair * visible});
  }
}
