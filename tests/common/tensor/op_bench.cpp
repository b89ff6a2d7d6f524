#include "tests/common/tensor/op_bench.h"

#include <bit>
#include <map>

#include "base/random.h"
#include "tests/support/catch.h"

namespace shardlings {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double largest_finite(const reference::Values& values) {
  double largest = 0;
  for (const double value : values)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  return largest;
}

// "[7]: expected 1, got 2" for the first element that is too far away, or nothing.
std::string difference(const reference::Values& got, const reference::Values& expected,
                       double allowed) {
  if (got.size() != expected.size())
    return fmt::format("{} values, {} expected", got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    if (got[i] != expected[i] && !(std::abs(got[i] - expected[i]) <= allowed))
      return fmt::format("[{}]: expected {:.17g}, got {:.17g}, allowed {:.3g}", i, expected[i],
                         got[i], allowed);
  return "";
}

// Equal to the last bit; all NaN are one.
std::string bit_difference(const OpBench::Results& got, const OpBench::Results& expected) {
  if (got.size() != expected.size()) return "another number of results";
  for (std::size_t r = 0; r < got.size(); ++r)
    for (std::size_t i = 0; i < got[r].second.size(); ++i) {
      const double a = got[r].second[i], b = expected[r].second[i];
      if (std::bit_cast<std::uint64_t>(a) != std::bit_cast<std::uint64_t>(b) &&
          !(std::isnan(a) && std::isnan(b)))
        return fmt::format("{}[{}]: {:.17g} against {:.17g}", got[r].first, i, a, b);
    }
  return "";
}

}  // namespace

OpBench::Values OpBench::random(const std::string& name, std::int64_t count, double scale) const {
  const RandomStream stream(1, name);
  Values values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(scale * stream.normal(static_cast<std::uint64_t>(i)));
  return rounded(values);
}

OpBench::Values OpBench::rounded(const Values& values) const {
  return with_real_or_bf16(dtype_, [&]<class T>(T) {
    return reference::each(values, [](double x) { return double{static_cast<T>(x)}; });
  });
}

Tensor OpBench::put(const Shape& shape, const Values& values) const {
  const Tensor x(device_, dtype_, shape, "test");
  x.from_doubles(values);
  return x;
}

Tensor OpBench::put(const Shape& shape, const reference::Indices& values) const {
  const Tensor x(device_, DType::i32, shape, "test");
  x.from_host<std::int32_t>(values);
  return x;
}

Tensor OpBench::blank(const Shape& shape) const {
  return put(shape, Values(reference::at(shape.elements()), kNaN));
}

void OpBench::expect(const std::string& what, const Tensor& got, const Values& expected,
                     double slack) {
  expect_within(what, got, expected, slack * tolerance() * largest_finite(expected));
}

void OpBench::expect_within(const std::string& what, const Tensor& got, const Values& expected,
                            double allowed) {
  results_.emplace_back(what, got.to_doubles());
  INFO(what);
  REQUIRE(difference(results_.back().second, expected, allowed) == "");
}

void on_every_device(const std::function<void(OpBench&)>& body, const std::vector<DType>& dtypes) {
  for (const DType dtype : dtypes) {
    std::map<std::string, OpBench::Results> first;  // by kernels
    for (const TestDevice& kind : test_devices()) {
      INFO(kind.name << ", " << name_of(dtype));
      MemoryLedger memory("device");
      WorkLedger work;
      const std::unique_ptr<Device> device = kind.make(memory, work);
      OpBench bench(*device, dtype, kind.kernels, kind.f32_tolerance);
      body(bench);
      const auto [of_first, is_first] = first.emplace(kind.kernels, bench.results());
      if (!is_first) REQUIRE(bit_difference(bench.results(), of_first->second) == "");
    }
  }
}

}  // namespace shardlings
