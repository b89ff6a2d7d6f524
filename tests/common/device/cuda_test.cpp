// The CUDA device itself. Its operations are tested with all others', in tests/common/tensor.
#include "device/cuda/cuda.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/random.h"
#include "tensor/ops.h"
#include "tests/support/catch.h"

using namespace shardlings;
using Catch::Matchers::Contains;

namespace {

using Values = std::vector<double>;

// Without a GPU nothing here can be tested, which is no pass.
const bool kHasGpu = [] {
  const std::string why = why_no_cuda();
  if (why.empty()) return true;
  std::printf("skipped: no GPU (%s)\n", why.c_str());
  std::fflush(stdout);
  std::_Exit(77);
}();

struct Gpu {
  Tensor tensor(std::int64_t count, DType dtype = DType::f64) {
    return {*device, dtype, {count}, "test"};
  }
  Tensor filled(std::int64_t count, double value) {
    const Tensor x = tensor(count);
    fill(x, value);
    return x;
  }

  MemoryLedger memory{"device"};
  WorkLedger work;
  std::unique_ptr<Device> device = make_cuda_device(memory, work);
};

void then(Device& device, Stream before, Stream after) {
  device.wait(after, device.record(before));
}

// Long enough for a copy that does not wait to come too early.
void keep_busy(const Tensor& x) {
  for (int i = 0; i < 200; ++i) scale(x, 1);
}

}  // namespace

TEST_CASE("cuda: a released block is used again for the same size") {
  Gpu gpu;
  void* where = nullptr;
  {
    const Tensor x = gpu.tensor(1000);
    where = x.data();
  }
  CHECK(gpu.tensor(1000).data() == where);
  CHECK(gpu.tensor(1001).data() != where);
  CHECK(gpu.tensor(0).data() != nullptr);
  CHECK(gpu.memory.now().total() == 0);
}

TEST_CASE("cuda: the driver sees what the ledger sees") {
  Gpu gpu;
  const std::int64_t before = free_device_bytes(), bytes = std::int64_t{256} << 20;
  const Tensor x = gpu.tensor(bytes / 8);
  CHECK(before - free_device_bytes() >= bytes);
  CHECK(gpu.memory.now().total() == bytes);
}

TEST_CASE(
    "cuda: memory that the GPU does not have is one clear error; free blocks are given back") {
  Gpu gpu;
  const std::int64_t most = free_device_bytes() / 8 * 3 / 4;
  { const Tensor x = gpu.filled(most, 1); }
  const Tensor other = gpu.filled(most - 1, 2);  // only after x's block went back to the driver
  CHECK(sum(other.view({1, most - 1}).columns(0, 10)) == 20);
  try {
    gpu.tensor(std::int64_t{1} << 50);
    FAIL("eight pebibytes were allocated");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::out_of_memory);
  }
  CHECK(gpu.filled(1, 3).to_doubles() == Values{3});
}

TEST_CASE("cuda: an upload's source may be changed at once, however large it is") {
  Gpu gpu;
  for (const std::size_t count : {1, 3, 5'000'001}) {  // 40 MB: more than all pieces of staging
    const Tensor x = gpu.tensor(static_cast<std::int64_t>(count));
    Values values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<double>(i);
    const Values expected = values;
    keep_busy(gpu.filled(1 << 22, 1));
    gpu.device->upload(x.data(), values.data(), x.bytes());
    values.assign(count, -1);
    CHECK((x.to_doubles() == expected));
  }
}

TEST_CASE("cuda: streams are ordered by events") {
  Gpu gpu;
  Device& device = *gpu.device;
  const Tensor busy = gpu.filled(1 << 24, 1), x = gpu.filled(1 << 20, 1);
  const auto twice = [&](Stream stream) {
    device.launch(Scale{.dtype = DType::f64, .y = x.data(), .factor = 2, .count = x.elements()},
                  stream);
  };
  keep_busy(busy);
  fill(x, 3);
  then(device, Stream::compute, Stream::copy);
  twice(Stream::copy);
  then(device, Stream::copy, Stream::communication);
  twice(Stream::communication);
  then(device, Stream::communication, Stream::compute);
  add_scaled(x, x, 2);
  CHECK(sum(x) == 36.0 * (1 << 20));
}

TEST_CASE("cuda: events that are past, and the one that never was, hold nobody up") {
  Gpu gpu;
  Device& device = *gpu.device;
  const Tensor x = gpu.filled(2, 1);
  std::vector<Event> events;
  for (int i = 0; i < 1000; ++i) {
    scale(x, 1);
    events.push_back(device.record(Stream::compute));
    if (i % 100 == 0) device.synchronize();
  }
  device.wait(Stream::copy, Event{});
  for (const Event& event : events) device.wait(Stream::copy, event);
  device.synchronize(Stream::copy);
  CHECK(x.to_doubles() == Values{1, 1});
  CHECK_THROWS_WITH(device.wait(Stream::copy, Event{Stream::compute, 1001}), Contains("event"));
}

TEST_CASE("cuda: page-locked memory brings a download when the stream is synchronized") {
  Gpu gpu;
  MemoryLedger memory("host");
  const auto host = make_pinned_host_device(memory, gpu.work, 2);
  const Tensor x = gpu.filled(1 << 20, 7), y(*host, DType::f64, {1 << 20}, "y");
  then(*gpu.device, Stream::compute, Stream::copy);
  gpu.device->download(y.data(), x.data(), x.bytes(), Stream::copy);
  gpu.device->synchronize(Stream::copy);
  CHECK(sum(y) == 7.0 * (1 << 20));
  CHECK(memory.now().total() == y.bytes());
}

TEST_CASE("cuda: results do not change from run to run") {
  const auto results = [] {
    Gpu gpu;
    const std::int64_t T = 300, D = 192;
    const RandomStream stream(1, "cuda");
    Values values(static_cast<std::size_t>(T * 3 * D));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = stream.normal(i);
    const auto blank = [&](const Shape& shape, DType dtype = DType::f32) {
      return Tensor(*gpu.device, dtype, shape, "");
    };
    const Tensor qkv = blank({1, T, 3 * D}), d_qkv = blank({1, T, 3 * D}), o = blank({1, T, D}),
                 log_sum_exp = blank({1, 3, T}), d_w = blank({D, 3 * D}), d_b = blank({3 * D}),
                 o_bf16 = blank({1, T, D}, DType::bf16),
                 d_qkv_bf16 = blank({1, T, 3 * D}, DType::bf16);
    qkv.from_doubles(values);
    const auto part = [&](const Tensor& x, std::int64_t i) {
      return x.columns(i * D, (i + 1) * D);
    };
    attention(o, log_sum_exp, part(qkv, 0), part(qkv, 1), part(qkv, 2), 3);
    attention_backward(part(d_qkv, 0), part(d_qkv, 1), part(d_qkv, 2), part(qkv, 0), part(qkv, 1),
                       part(qkv, 2), o, log_sum_exp, o, 3);
    linear_weight_gradient(d_w, o, d_qkv, false);
    column_sum(d_b, d_qkv, false);
    Values all = d_w.to_doubles();
    cast(o_bf16, o);
    cast(d_qkv_bf16, d_qkv);
    linear_weight_gradient(d_w, o_bf16, d_qkv_bf16, true);
    for (const Tensor& x : {d_w, d_b})
      for (const double v : x.to_doubles()) all.push_back(v);
    all.push_back(sum_of_squares(d_qkv));
    return all;
  };
  const Values first = results();
  for (int i = 0; i < 3; ++i) CHECK((results() == first));
}

TEST_CASE("cuda: ranges may nest, and mean nothing to results") {
  Gpu gpu;
  const Range outer(*gpu.device, "h.0");
  const Range inner(*gpu.device, "h.0.mlp");
  CHECK(gpu.filled(1, 2).to_doubles() == Values{2});
}

TEST_CASE("cuda: a GPU that is not there is named") {
  MemoryLedger memory("device");
  WorkLedger work;
  try {
    make_cuda_device(memory, work, {.index = 1000});
    FAIL("GPU 1000 was found");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::unavailable);
    CHECK_THAT(error.what(), Contains("GPU 1000"));
  }
}
