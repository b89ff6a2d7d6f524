// bench_ops [options of Google Benchmark]: every kind of operation by itself, on one thread and on
// all; and products of bf16 on a GPU, each with the wait for its end.
//
// Products and attention have the shapes of the cases A and gpt2 (step.cpp); they are held against
// the rate of multiply-adds (on a GPU, of a large product). The others move arrays that no cache
// holds, and are held against moving alone: reading, copying (what is written anew is fetched
// first, unseen) or adding in place; where an element costs an exponential, against exponentials
// alone if those take longer. All yardsticks are measured at the start.
#include <benchmark/benchmark.h>

#include <chrono>
#include <functional>
#include <limits>

#include "bench/machine.h"
#include "bench/rates.h"
#include "bench/record.h"
#include "device/cpu/cpu_device.h"
#include "device/cuda/cuda.h"
#include "tensor/ops.h"

namespace shardlings {

namespace {

using Tensors = std::vector<Tensor>;

// `count` whole numbers, spread over [0, limit).
struct Indices {
  std::int64_t count, limit;
};

struct Limits {
  double flops, read, copy, add_into;  // per second: FLOPs, then bytes
  double exponentials;                 // per second
};

// An operation and what it works on: t are tensors of `shapes`, i are i32 tensors. What moves
// arrays says how many bytes, and how it moves them.
struct Entry {
  std::string name;
  std::vector<Shape> shapes;
  std::function<void(const Tensors& t, const Tensors& i)> call;
  double Limits::*limit = &Limits::flops;
  double bytes = 0;
  double exponentials = 0;
  std::vector<Indices> indices = {};
};

// Where operations run, and the dtype of their tensors.
struct Place {
  std::string name;
  std::function<std::unique_ptr<Device>(MemoryLedger&, WorkLedger&)> make;
  DType dtype;
  Limits limits;
};

Tensor to_tensor(Device& device, const Indices& indices) {
  std::vector<std::int32_t> values;
  for (std::int64_t i = 0; i < indices.count; ++i)
    values.push_back(static_cast<std::int32_t>(i * 40503 % indices.limit));
  Tensor tensor(device, DType::i32, {indices.count}, "bench");
  tensor.from_host<std::int32_t>(values);
  return tensor;
}

void run(benchmark::State& state, const Entry& entry, const Place& place) {
  MemoryLedger memory("device");
  WorkLedger work;
  const std::unique_ptr<Device> device = place.make(memory, work);
  Tensors t, i;
  for (const Shape& shape : entry.shapes) {
    const Tensor values(*device, DType::f32, shape, "bench");
    fill(values, 0.01);
    cast(t.emplace_back(*device, place.dtype, shape, "bench"), values);
  }
  for (const Indices& indices : entry.indices) i.push_back(to_tensor(*device, indices));
  entry.call(t, i);
  const auto flops = static_cast<double>(work.total().executed_flops);

  const auto begin = std::chrono::steady_clock::now();
  for (auto _ : state) {
    entry.call(t, i);
    device->synchronize();
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  const double calls_per_second = static_cast<double>(state.iterations()) / elapsed.count();
  const bool multiplies = entry.limit == &Limits::flops;
  const double rate = calls_per_second * (multiplies ? flops : entry.bytes);
  state.counters[multiplies ? "GFLOP/s" : "GB/s"] = rate / 1e9;
  const Limits& limits = place.limits;
  state.counters["share"] = std::max(rate / (limits.*entry.limit),
                                     calls_per_second * entry.exponentials / limits.exponentials);
}

// ---- products and attention ----

struct Sizes {
  std::string name;
  std::int64_t B, T, D, H, V;
};
const Sizes kSizes[] = {{"A", 8, 256, 256, 8, 256}, {"gpt2", 4, 64, 768, 12, 50257}};

// y_RN = x_RM w_MN and its two gradients.
void add_product(std::vector<Entry>& entries, const std::string& name, std::int64_t R,
                 std::int64_t M, std::int64_t N) {
  const std::vector<Shape> shapes{{R, N}, {R, M}, {M, N}};  // y, x, w
  const auto add = [&](const char* which, auto call) {
    entries.push_back({name + which, shapes, call});
  };
  add("/forward", [](auto& t, auto&) { linear(t[0], t[1], t[2]); });
  add("/d_x", [](auto& t, auto&) { linear_transposed(t[1], t[0], t[2]); });
  add("/d_w", [](auto& t, auto&) { linear_weight_gradient(t[2], t[1], t[0], false); });
}

// logits_RV = x_RD wte_VD^T and its two gradients.
void add_head(std::vector<Entry>& entries, const Sizes& s) {
  const std::vector<Shape> shapes{{s.B * s.T, s.V}, {s.B * s.T, s.D}, {s.V, s.D}};
  const auto add = [&](const char* which, auto call) {
    entries.push_back({s.name + "/head" + which, shapes, call});
  };
  add("/forward", [](auto& t, auto&) { linear_transposed(t[0], t[1], t[2]); });
  add("/d_x", [](auto& t, auto&) { linear(t[1], t[0], t[2]); });
  add("/d_w", [](auto& t, auto&) { linear_weight_gradient(t[2], t[0], t[1], false); });
}

void add_attention(std::vector<Entry>& entries, const Sizes& s) {
  const Shape x_BTD{s.B, s.T, s.D}, lse_BHT{s.B, s.H, s.T};
  const std::int64_t H = s.H;
  entries.push_back({s.name + "/attention/forward",
                     {x_BTD, lse_BHT, x_BTD, x_BTD, x_BTD},
                     [H](auto& t, auto&) { attention(t[0], t[1], t[2], t[3], t[4], H); }});
  entries.push_back({s.name + "/attention/backward",
                     {x_BTD, x_BTD, x_BTD, x_BTD, x_BTD, x_BTD, x_BTD, lse_BHT, x_BTD},
                     [H](auto& t, auto&) {
                       attention_backward(t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], H);
                     }});
}

// ---- what memory limits ----

constexpr std::int64_t kElements = 1 << 26;  // of f32: 256 MiB
constexpr double kArrayBytes = 4.0 * kElements;

void add_element_wise(std::vector<Entry>& entries) {
  const Shape n{kElements};
  entries.push_back({"adamw",
                     {n, n, n, n},
                     [](auto& t, auto&) { adamw(t[0], t[1], t[2], t[3], {}); },
                     &Limits::add_into,
                     7 * kArrayBytes});
  entries.push_back({"sum_of_squares",
                     {n},
                     [](auto& t, auto&) { benchmark::DoNotOptimize(sum_of_squares(t[0])); },
                     &Limits::read,
                     kArrayBytes});
  entries.push_back({"gelu",
                     {n, n},
                     [](auto& t, auto&) { gelu(t[0], t[1]); },
                     &Limits::copy,
                     2 * kArrayBytes,
                     kElements});
  entries.push_back({"gelu_backward",
                     {n, n, n},
                     [](auto& t, auto&) { gelu_backward(t[0], t[1], t[2]); },
                     &Limits::copy,
                     3 * kArrayBytes,
                     kElements});
}

void add_rows(std::vector<Entry>& entries, const Sizes& s) {
  const std::int64_t rows = kElements / s.D;
  const Shape x{rows, s.D}, w{s.D}, r{rows};
  entries.push_back({s.name + "/layer_norm",
                     {x, r, r, x, w, w},
                     [](auto& t, auto&) { layer_norm(t[0], t[1], t[2], t[3], t[4], t[5]); },
                     &Limits::copy,
                     2 * kArrayBytes});
  entries.push_back({s.name + "/layer_norm_backward",
                     {x, w, w, x, r, r, w, x},
                     [](auto& t, auto&) {
                       layer_norm_backward(t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], false);
                     },
                     &Limits::copy,
                     3 * kArrayBytes});
  entries.push_back({s.name + "/embedding",
                     {x, {s.V, s.D}, {s.T, s.D}},
                     [](auto& t, auto& i) { embedding(t[0], t[1], t[2], i[0], i[1]); },
                     &Limits::copy,
                     2 * kArrayBytes,  // rows looked up, rows written
                     0,
                     {{rows, s.V}, {rows, s.T}}});
}

void add_loss(std::vector<Entry>& entries, const Sizes& s) {
  const std::int64_t rows = kElements / s.V;
  const Shape logits{rows, s.V}, r{rows};
  entries.push_back({s.name + "/cross_entropy",
                     {r, r, logits, r},
                     [](auto& t, auto& i) { cross_entropy(t[0], t[1], t[2], i[0], t[3]); },
                     &Limits::read,
                     kArrayBytes,
                     kElements,
                     {{rows, s.V}}});
  entries.push_back({s.name + "/cross_entropy_backward",
                     {logits, r, r},
                     [](auto& t, auto& i) { cross_entropy_backward(t[0], t[1], i[0], t[2], 1e-3); },
                     &Limits::add_into,
                     2 * kArrayBytes,
                     kElements,
                     {{rows, s.V}}});
}

// ---- all of them ----

void add_products(std::vector<Entry>& entries, const Sizes& s) {
  const std::int64_t R = s.B * s.T;
  add_product(entries, s.name + "/qkv", R, s.D, 3 * s.D);
  add_product(entries, s.name + "/projection", R, s.D, s.D);
  add_product(entries, s.name + "/up", R, s.D, 4 * s.D);
  add_product(entries, s.name + "/down", R, 4 * s.D, s.D);
  add_head(entries, s);
}

std::vector<Entry> all_entries() {
  std::vector<Entry> entries;
  for (const Sizes& s : kSizes) {
    add_products(entries, s);
    add_attention(entries, s);
    add_rows(entries, s);
    add_loss(entries, s);
  }
  add_element_wise(entries);
  return entries;
}

void register_entries(const std::vector<Entry>& entries, const Place& place) {
  for (const Entry& entry : entries)
    benchmark::RegisterBenchmark(fmt::format("{}/{}", entry.name, place.name).c_str(),
                                 [=](benchmark::State& state) { run(state, entry, place); })
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
}

void register_all(int threads) {
  const Limits limits{.flops = multiply_add_rate(DType::f32, threads),
                      .read = read_rate(threads),
                      .copy = copy_rate(threads),
                      .add_into = add_into_rate(threads),
                      .exponentials = exponential_rate(threads)};
  fmt::print(stderr,
             "threads:{} at best: {:.1f} GFLOP/s; {:.1f} GB/s read, {:.1f} copied, {:.1f} added "
             "into; {:.2f} G exponentials/s; {:.2f} GHz\n",
             threads, limits.flops / 1e9, limits.read / 1e9, limits.copy / 1e9,
             limits.add_into / 1e9, limits.exponentials / 1e9, clock_rate() / 1e9);
  const auto make = [threads](MemoryLedger& memory, WorkLedger& work) {
    return std::make_unique<CpuDevice>(memory, work, threads);
  };
  register_entries(all_entries(), {fmt::format("threads:{}", threads), make, DType::f32, limits});
}

void register_products_on_gpu() {
  constexpr std::int64_t kLarge = 4096;
  const auto make = [](MemoryLedger& memory, WorkLedger& work) {
    return make_cuda_device(memory, work);
  };
  MemoryLedger memory("device");
  WorkLedger work;
  const auto device = make(memory, work);
  const double flops = product_rate(*device, DType::bf16, kLarge, kLarge, kLarge);
  fmt::print(stderr, "cuda, bf16 at best: {:.1f} GFLOP/s\n", flops / 1e9);
  constexpr double kNotMeasured = std::numeric_limits<double>::infinity();
  const Limits limits{flops, kNotMeasured, kNotMeasured, kNotMeasured, kNotMeasured};
  std::vector<Entry> entries;
  for (const Sizes& s : kSizes) add_products(entries, s);
  register_entries(entries, {"cuda/bf16", make, DType::bf16, limits});
}

}  // namespace

}  // namespace shardlings

int main(int count, char** words) {
  benchmark::Initialize(&count, words);
  if (benchmark::ReportUnrecognizedArguments(count, words)) return 64;
  const shardlings::Record here = shardlings::new_record("ops");
  for (const char* name : {"processor", "compiler"})
    benchmark::AddCustomContext(name, shardlings::word(here, name));
  const int cores = static_cast<int>(shardlings::number(here, "cores"));
  shardlings::register_all(1);
  if (cores > 1) shardlings::register_all(cores);
  if (shardlings::why_no_cuda().empty()) shardlings::register_products_on_gpu();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
