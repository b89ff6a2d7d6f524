// Attention: tiled and with stored probabilities, on whole sequences and on blocks of keys as ring
// attention will call it.
#include "tests/common/tensor/op_bench.h"
#include "tests/support/catch.h"

using namespace shardlings;
using reference::AttentionCase;
using reference::Values;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Sequences that end before, at and after a tile (64 queries, 256 keys), and blocks of keys that
// lie before, at and after the queries: there some or all rows see nothing.
const std::vector<AttentionCase> kCases{
    {.B = 1, .queries = 1, .keys = 1, .H = 1, .K = 1},
    {.B = 2, .queries = 3, .keys = 3, .H = 3, .K = 5},
    {.B = 2, .queries = 33, .keys = 33, .H = 1, .K = 7},
    {.B = 1, .queries = 63, .keys = 63, .H = 3, .K = 4},
    {.B = 1, .queries = 64, .keys = 64, .H = 3, .K = 4},
    {.B = 1, .queries = 65, .keys = 65, .H = 3, .K = 4},
    {.B = 1, .queries = 257, .keys = 257, .H = 1, .K = 5},
    {.B = 1, .queries = 300, .keys = 300, .H = 3, .K = 3},
    // the last queries of a longer sequence
    {.B = 2, .queries = 5, .keys = 9, .H = 3, .K = 4, .query_offset = 4},
    {.B = 1, .queries = 65, .keys = 300, .H = 1, .K = 4, .query_offset = 235},
    // more keys than the queries may see, fewer than there are
    {.B = 1, .queries = 7, .keys = 300, .H = 1, .K = 4, .query_offset = 2},
    {.B = 1, .queries = 300, .keys = 7, .H = 1, .K = 4},
    // a block of keys before, at, and after the queries
    {.B = 2, .queries = 33, .keys = 65, .H = 3, .K = 4, .query_offset = 65},
    {.B = 2, .queries = 65, .keys = 65, .H = 1, .K = 4, .query_offset = 130, .key_offset = 130},
    {.B = 2, .queries = 33, .keys = 65, .H = 3, .K = 4, .key_offset = 33},
    // partly after them: the first rows see nothing, one row sees one key
    {.B = 2, .queries = 7, .keys = 9, .H = 3, .K = 4, .key_offset = 3},
    {.B = 1, .queries = 130, .keys = 300, .H = 1, .K = 4, .query_offset = 20, .key_offset = 90},
    // nothing to see at all
    {.B = 2, .queries = 3, .keys = 0, .H = 1, .K = 4},
};

std::string text(const AttentionCase& a) {
  return fmt::format("B {} H {} K {}, {} queries at {}, {} keys at {}", a.B, a.H, a.K, a.queries,
                     a.query_offset, a.keys, a.key_offset);
}

void for_each_case(const std::function<void(OpBench&, const AttentionCase&)>& body) {
  for (const AttentionCase& a : kCases) {
    INFO(text(a));
    on_every_device([&](OpBench& bench) { body(bench, a); });
  }
}

// One case on one device.
struct Setup {
  Setup(const OpBench& bench, const AttentionCase& a)
      : of_queries{a.B, a.queries, a.D()},
        of_keys{a.B, a.keys, a.D()},
        q(bench.random("q", of_queries.elements(), 2)),
        k(bench.random("k", of_keys.elements(), 2)),
        v(bench.random("v", of_keys.elements())),
        d_o(bench.random("d_o", of_queries.elements())),
        q_put(bench.put(of_queries, q)),
        k_put(bench.put(of_keys, k)),
        v_put(bench.put(of_keys, v)),
        d_o_put(bench.put(of_queries, d_o)),
        o(bench.blank(of_queries)),
        log_sum_exp(bench.blank({a.B, a.H, a.queries})),
        d_q(bench.blank(of_queries)),
        d_k(bench.blank(of_keys)),
        d_v(bench.blank(of_keys)) {}

  void forward(const AttentionCase& a, const Tensor& probabilities = {}) const {
    attention(o, log_sum_exp, q_put, k_put, v_put, a.H, {a.query_offset, a.key_offset},
              probabilities);
  }
  void backward(const AttentionCase& a, const Tensor& probabilities = {}) const {
    attention_backward(d_q, d_k, d_v, q_put, k_put, v_put, o, log_sum_exp, d_o_put, a.H,
                       {a.query_offset, a.key_offset}, probabilities);
  }

  Shape of_queries, of_keys;
  Values q, k, v, d_o;
  Tensor q_put, k_put, v_put, d_o_put, o, log_sum_exp, d_q, d_k, d_v;
};

// The token range [begin, end) of B x tokens x D values.
Values tokens(const Values& x, std::int64_t all, std::int64_t D, std::int64_t begin,
              std::int64_t end) {
  Values part;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::int64_t token = static_cast<std::int64_t>(i) / D % all;
    if (begin <= token && token < end) part.push_back(x[i]);
  }
  return part;
}

}  // namespace

TEST_CASE("attention: forward, tiled and with stored probabilities") {
  for_each_case([](OpBench& bench, const AttentionCase& a) {
    const Setup s(bench, a);
    const auto expected = reference::attention(a, s.q, s.k, s.v);
    s.forward(a);
    bench.expect("o", s.o, expected.o);
    bench.expect("log-sum-exp", s.log_sum_exp, expected.log_sum_exp);

    const Setup stored(bench, a);
    const Tensor probabilities = bench.blank({a.B, a.H, a.queries, a.keys});
    stored.forward(a, probabilities);
    bench.expect("o, stored", stored.o, expected.o);
    bench.expect("log-sum-exp, stored", stored.log_sum_exp, expected.log_sum_exp);
    bench.expect("probabilities", probabilities, expected.probabilities);
  });
}

TEST_CASE("attention: backward, tiled and with stored probabilities") {
  for_each_case([](OpBench& bench, const AttentionCase& a) {
    for (const bool stores : {false, true}) {
      INFO((stores ? "stored" : "tiled"));
      const Setup s(bench, a);
      const Tensor probabilities = stores ? bench.blank({a.B, a.H, a.queries, a.keys}) : Tensor();
      s.forward(a, probabilities);
      s.backward(a, probabilities);
      const auto expected = reference::attention_backward(a, s.q, s.k, s.v, s.d_o);
      bench.expect("d_q", s.d_q, expected.d_q, 2);
      bench.expect("d_k", s.d_k, expected.d_k, 2);
      bench.expect("d_v", s.d_v, expected.d_v, 2);
    }
  });
}

TEST_CASE("attention: a row that sees no key gives 0, minus infinity and gradients of 0") {
  on_every_device([](OpBench& bench) {
    const AttentionCase a{.B = 2, .queries = 3, .keys = 5, .H = 3, .K = 4, .key_offset = 3};
    const Setup s(bench, a);
    s.forward(a);
    bench.expect_within("o", s.o, reference::zeros(2 * 3 * 12), 0);
    bench.expect_within("log-sum-exp", s.log_sum_exp, Values(2 * 3 * 3, -kInfinity), 0);
    s.backward(a);
    bench.expect_within("d_q", s.d_q, reference::zeros(2 * 3 * 12), 0);
    bench.expect_within("d_k", s.d_k, reference::zeros(2 * 5 * 12), 0);
    bench.expect_within("d_v", s.d_v, reference::zeros(2 * 5 * 12), 0);
  });
}

TEST_CASE("attention: q, k, v and their gradients may be columns of one tensor") {
  on_every_device([](OpBench& bench) {
    const AttentionCase a{.B = 2, .queries = 70, .keys = 70, .H = 3, .K = 5};
    const std::int64_t D = a.D();
    const Setup s(bench, a);
    Values qkv;  // B x T x 3 D
    for (std::int64_t t = 0; t < a.B * a.queries; ++t)
      for (const Values* x : {&s.q, &s.k, &s.v})
        qkv.insert(qkv.end(), x->begin() + t * D, x->begin() + (t + 1) * D);
    const Tensor put = bench.put({a.B, a.queries, 3 * D}, qkv),
                 d_put = bench.blank({a.B, a.queries, 3 * D}),
                 wide_o =
                     bench.put({a.B, a.queries, D + 2}, Values(reference::at(140 * (D + 2)), 7.0));
    const Tensor q = put.columns(0, D), k = put.columns(D, 2 * D), v = put.columns(2 * D, 3 * D),
                 o = wide_o.columns(1, 1 + D);
    attention(o, s.log_sum_exp, q, k, v, a.H);
    attention_backward(d_put.columns(0, D), d_put.columns(D, 2 * D), d_put.columns(2 * D, 3 * D), q,
                       k, v, o, s.log_sum_exp, s.d_o_put, a.H);
    bench.expect("o", o, reference::attention(a, s.q, s.k, s.v).o);
    bench.expect_within("left of o", wide_o.columns(0, 1), Values(140, 7.0), 0);
    bench.expect_within("right of o", wide_o.columns(1 + D, 2 + D), Values(140, 7.0), 0);
    const auto expected = reference::attention_backward(a, s.q, s.k, s.v, s.d_o);
    bench.expect("d_q", d_put.columns(0, D), expected.d_q, 2);
    bench.expect("d_k", d_put.columns(D, 2 * D), expected.d_k, 2);
    bench.expect("d_v", d_put.columns(2 * D, 3 * D), expected.d_v, 2);
  });
}

// Ring attention: each rank's keys are a block of the sequence. Forward gives partial results that
// log-sum-exps merge; backward reads the whole row's o and log-sum-exp, so that blocks just add up.
TEST_CASE("attention: blocks of keys add up to the whole sequence") {
  for (const std::int64_t cut : {1, 64, 100, 299})
    on_every_device([cut](OpBench& bench) {
      const AttentionCase whole{.B = 2, .queries = 300, .keys = 300, .H = 3, .K = 4};
      const Setup s(bench, whole);
      s.forward(whole);
      const auto expected = reference::attention(whole, s.q, s.k, s.v);
      const auto gradients = reference::attention_backward(whole, s.q, s.k, s.v, s.d_o);

      Values merged = reference::zeros(s.of_queries.elements()), d_q = merged;
      for (const auto& [begin, end] :
           {std::pair{std::int64_t{0}, cut}, std::pair{cut, whole.keys}}) {
        AttentionCase block = whole;
        block.keys = end - begin;
        block.key_offset = begin;
        const auto part = [&](const Values& x) { return tokens(x, 300, whole.D(), begin, end); };
        Setup b(bench, block);
        b.k_put.from_doubles(part(s.k));
        b.v_put.from_doubles(part(s.v));

        b.forward(block);
        const Values o = b.o.to_doubles(), log_sum_exp = b.log_sum_exp.to_doubles();
        reference::each_row(block, [&](auto batch, auto h, auto i) {
          const std::size_t row = block.row(batch, h, i);
          const double share = std::exp(log_sum_exp[row] - expected.log_sum_exp[row]);
          const std::size_t query = block.head(batch, i, h, block.queries);
          reference::add_to(merged, query, share, o, query, block.K);
        });

        b.o = s.o;
        b.log_sum_exp = s.log_sum_exp;
        b.backward(block);
        d_q = reference::plus(d_q, b.d_q.to_doubles());
        bench.expect("d_k of a block", b.d_k, part(gradients.d_k), 2);
        bench.expect("d_v of a block", b.d_v, part(gradients.d_v), 2);
      }
      bench.expect("o merged", bench.put(s.of_queries, merged), expected.o);
      bench.expect("d_q added up", bench.put(s.of_queries, d_q), gradients.d_q, 2);
    });
}

TEST_CASE("attention: large scores neither overflow nor vanish") {
  on_every_device([](OpBench& bench) {
    const AttentionCase a{.B = 1, .queries = 70, .keys = 300, .H = 1, .K = 4, .query_offset = 230};
    Setup s(bench, a);
    s.q = bench.random("q", 70 * 4, 100);
    s.k = bench.random("k", 300 * 4, 100);
    s.q_put.from_doubles(s.q);
    s.k_put.from_doubles(s.k);
    s.forward(a);
    const auto expected = reference::attention(a, s.q, s.k, s.v);
    // Scores of some 1e4 are known to 1e4 epsilon, and so is everything that comes of them.
    bench.expect("log-sum-exp", s.log_sum_exp, expected.log_sum_exp);
    bench.expect("o", s.o, expected.o, 1e3);
  });
}

TEST_CASE("attention: a NaN key or value reaches every row that sees it") {
  on_every_device([](OpBench& bench) {
    for (const std::int64_t token : {0, 40, 64, 69})
      for (const bool in_key : {true, false}) {
        const AttentionCase a{.B = 1, .queries = 70, .keys = 70, .H = 1, .K = 4};
        Setup s(bench, a);
        Values& x = in_key ? s.k : s.v;
        x[reference::at(token * 4 + 1)] = kNaN;
        s.k_put.from_doubles(s.k);
        s.v_put.from_doubles(s.v);
        s.forward(a);
        const Values o = s.o.to_doubles(), log_sum_exp = s.log_sum_exp.to_doubles();
        for (std::int64_t i = 0; i < 70; ++i) {
          const bool sees = token <= i;
          if (sees) REQUIRE(std::isnan(o[reference::at(i * 4 + 1)]));
          // A key that the mask hides is never looked at.
          if (in_key) {
            REQUIRE(std::isnan(log_sum_exp[reference::at(i)]) == sees);
            REQUIRE(std::isnan(o[reference::at(i * 4 + 1)]) == sees);
          }
        }
      }
  });
}
