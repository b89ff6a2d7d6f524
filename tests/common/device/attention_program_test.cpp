// The attention programs of GPUs on the CPU: the sizes that tests/common/tensor leaves out, above
// all wide heads, which fill shared memory to the end.
#include "base/random.h"
#include "tensor/ops.h"
#include "tests/support/compare.h"
#include "tests/support/emulated_gpu.h"
#include "tests/support/reference_ops.h"

// The last one: it replaces CHECK.
#include "tests/support/catch.h"

using namespace shardlings;
using reference::AttentionCase;
using reference::Values;

namespace {

struct Machine {
  explicit Machine(bool backwards = false) : device(memory, work, backwards) {}

  Tensor put(DType dtype, const Shape& shape, const Values& values) {
    const Tensor x(device, dtype, shape, "test");
    x.from_doubles(values);
    return x;
  }
  Tensor blank(DType dtype, const Shape& shape) {
    return put(dtype, shape,
               Values(reference::at(shape.elements()), std::numeric_limits<double>::quiet_NaN()));
  }

  MemoryLedger memory{"device"};
  WorkLedger work;
  EmulatedGpu device;
};

Values random(const std::string& name, std::int64_t count) {
  const RandomStream stream(1, name);
  Values values;
  for (std::int64_t i = 0; i < count; ++i)  // as f32 holds them
    values.push_back(static_cast<float>(stream.normal(static_cast<std::uint64_t>(i))));
  return values;
}

NamedValues results_of(Machine& machine, DType dtype, const AttentionCase& a, bool stores) {
  const Shape of_queries{a.B, a.queries, a.D()}, of_keys{a.B, a.keys, a.D()};
  const auto blank = [&](const Shape& shape) { return machine.blank(dtype, shape); };
  const Tensor q = machine.put(dtype, of_queries, random("q", of_queries.elements())),
               k = machine.put(dtype, of_keys, random("k", of_keys.elements())),
               v = machine.put(dtype, of_keys, random("v", of_keys.elements())),
               d_o = machine.put(dtype, of_queries, random("d_o", of_queries.elements()));
  const Tensor o = blank(of_queries), log_sum_exp = blank({a.B, a.H, a.queries}),
               d_q = blank(of_queries), d_k = blank(of_keys), d_v = blank(of_keys);
  const Tensor kept = stores ? blank({a.B, a.H, a.queries, a.keys}) : Tensor();
  const AttentionOffsets offsets{a.query_offset, a.key_offset};
  attention(o, log_sum_exp, q, k, v, a.H, offsets, kept);
  attention_backward(d_q, d_k, d_v, q, k, v, o, log_sum_exp, d_o, a.H, offsets, kept);
  NamedValues results{{"o", o.to_doubles()},
                      {"log_sum_exp", log_sum_exp.to_doubles()},
                      {"d_q", d_q.to_doubles()},
                      {"d_k", d_k.to_doubles()},
                      {"d_v", d_v.to_doubles()}};
  if (stores) results["probabilities"] = kept.to_doubles();
  return results;
}

NamedValues expected_of(const AttentionCase& a) {
  const Values q = random("q", a.B * a.queries * a.D()), k = random("k", a.B * a.keys * a.D()),
               v = random("v", a.B * a.keys * a.D()), d_o = random("d_o", a.B * a.queries * a.D());
  const auto forward = reference::attention(a, q, k, v);
  const auto backward = reference::attention_backward(a, q, k, v, d_o);
  return {{"o", forward.o},      {"log_sum_exp", forward.log_sum_exp},
          {"d_q", backward.d_q}, {"d_k", backward.d_k},
          {"d_v", backward.d_v}, {"probabilities", forward.probabilities}};
}

}  // namespace

TEST_CASE("attention programs: any width of heads up to 128, in tiles that end unevenly") {
  for (const std::int64_t K : {1, 33, 64, 127, 128})
    for (const auto& [queries, keys] : {std::pair{1, 1}, {3, 3}, {16, 17}, {33, 49}}) {
      const AttentionCase a{
          .B = 2, .queries = queries, .keys = keys, .H = 2, .K = K, .query_offset = keys - queries};
      const NamedValues expected = expected_of(a);
      for (const DType dtype : {DType::f64, DType::f32})
        for (const bool stores : {false, true}) {
          INFO("K " << K << ", " << queries << " x " << keys << ", " << name_of(dtype));
          Machine forwards, backwards(true);
          NamedValues results = results_of(forwards, dtype, a, stores);
          REQUIRE(results == results_of(backwards, dtype, a, stores));
          if (!stores) results["probabilities"] = expected.at("probabilities");
          REQUIRE(difference(results, expected, dtype == DType::f64 ? 1e-12 : 2e-5, 1) == "");
        }
    }
}

TEST_CASE("attention programs: their shared memory is what every GPU has") {
  for (const std::int64_t bytes : {AttentionForwardProgram<float>::shared_elements(128) * 4,
                                   AttentionForwardProgram<double>::shared_elements(128) * 8,
                                   AttentionBackwardTiles<float>::shared_elements(128) * 4,
                                   AttentionBackwardTiles<double>::shared_elements(128) * 8})
    CHECK(bytes <= 64 * 1024);
}

TEST_CASE("attention programs: heads that no tile holds are refused, with what runs instead") {
  Machine machine;
  const AttentionCase a{.B = 1, .queries = 2, .keys = 2, .H = 1, .K = 129};
  try {
    results_of(machine, DType::f32, a, false);
    FAIL("a head of 129 columns was taken");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::usage);
    CHECK_THAT(error.what(), Catch::Matchers::Contains("heads of 129 columns") &&
                                 Catch::Matchers::Contains("--backend cpu"));
  }
}

TEST_CASE("attention programs: reading behind shared memory would show") {
  // The emulation itself: a program that writes one element too far.
  struct TooFar {
    void operator()(EmulatedBlock& block, float* memory) const {
      block.each_thread([&](int thread) { memory[thread] = 1; });
    }
  };
  CHECK_NOTHROW(EmulatedLaunches(false).blocks<float>(2, kThreadsPerBlock, TooFar{}));
  CHECK_THROWS_WITH(EmulatedLaunches(false).blocks<float>(2, kThreadsPerBlock - 1, TooFar{}),
                    Catch::Matchers::Contains("behind its 255 elements"));
}
