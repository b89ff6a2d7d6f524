// bench_limits [FILE]: what this machine can do at best. Adds a record to the file.
#include "base/check.h"
#include "bench/machine.h"
#include "bench/record.h"

using namespace shardlings;

namespace {

void measure(int threads, Record& record) {
  const double clock_hz = clock_rate();
  fmt::print("{} {}, {:.2f} GHz\n", threads, threads == 1 ? "thread" : "threads", clock_hz / 1e9);
  record.push_back({"threads", {std::int64_t{threads}}});
  record.push_back({"clock_ghz", {clock_hz / 1e9}});
  for (const DType dtype : {DType::f32, DType::f64}) {
    const double rate = multiply_add_rate(dtype, threads);
    const std::int64_t vector = flops_of_a_vector(dtype);
    fmt::print(
        "  multiply-add {}  {:7.1f} GFLOP/s, {:.1f} FLOP per cycle and core"
        " ({} = one {}-bit unit, {} = two)\n",
        name_of(dtype), rate / 1e9, rate / clock_hz / threads, vector,
        4 * vector * bytes_per_element(dtype), 2 * vector);
    record.push_back({fmt::format("peak_{}_gflops", name_of(dtype)), {rate / 1e9}});
  }
  const double read = read_rate(threads) / 1e9, copy = copy_rate(threads) / 1e9,
               add_into = add_into_rate(threads) / 1e9;
  fmt::print("  sum of x          {:7.1f} GB/s, read\n", read);
  fmt::print("  copy              {:7.1f} GB/s, read and written\n", copy);
  fmt::print("  y += x            {:7.1f} GB/s, two read and one written\n", add_into);
  record.push_back({"read_gb_per_s", {read}});
  record.push_back({"copy_gb_per_s", {copy}});
  record.push_back({"add_into_gb_per_s", {add_into}});
}

}  // namespace

int main(int count, char** words) {
  const Record here = new_record("machine");
  const int cores = static_cast<int>(number(here, "cores"));
  fmt::print("{}, {} cores, {}\n", word(here, "processor"), cores, word(here, "compiler"));
  for (int threads = 1; threads <= cores; threads += std::max(1, cores - 1)) {
    Record record = here;
    measure(threads, record);
    if (count > 1) keep(words[1], record);
  }
  return 0;
}
