// mpiexec -n RANKS bench_comm RANKS [FILE]: what communication costs between processes of this
// machine. The first rank prints, and adds a record to the file.
//
//   small    an all-reduce of 16 floats
//   large    of 4 and 16 MiB: our ring, and the library's own blocking call, in turns
//   waiting  how long one rank computes while the others wait for it, against while they sleep
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

#include "base/units.h"
#include "bench/record.h"
#include "comm/mpi.h"
#include "course/world.h"
#include "device/cpu/cpu_device.h"
#include "tensor/ops.h"

using namespace shardlings;

namespace {

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

class Bench {
 public:
  Bench(World& world, Record& record) : world_(world), record_(record) {}

  void small() {
    constexpr int kTimes = 1000;
    const Tensor x = zeros(16);
    const double seconds = median_of(kTimes, [&] { world_.all().all_reduce(x, "x"); });
    say("all_reduce_16_floats_us", 1e6 * seconds, "us, all-reduce of 16 floats");
  }

  void large(std::int64_t mebibytes) {
    constexpr int kTimes = 61;
    const Tensor x = zeros(mebibytes << 18);
    std::vector<double> ours, library;
    for (int i = 0; i < kTimes; ++i) {
      ours.push_back(from_a_barrier([&] { world_.all().all_reduce(x, "x"); }));
      library.push_back(from_a_barrier([&] {
        MPI_Allreduce(MPI_IN_PLACE, x.data(), static_cast<int>(x.elements()), MPI_FLOAT, MPI_SUM,
                      MPI_COMM_WORLD);
      }));
    }
    const std::string name = fmt::format("all_reduce_{}_mib", mebibytes);
    const std::string what = fmt::format("ms, all-reduce of {} MiB", mebibytes);
    say(name + "_ms", 1e3 * median(ours), what);
    say(name + "_library_ms", 1e3 * median(library), what + " by MPI_Allreduce, in place");
    say(name + "_gain", median(library) / median(ours), "times as fast");
  }

  // The first rank multiplies matrices on `threads` threads.
  void waiting(int threads) {
    constexpr std::int64_t N = 512;
    constexpr int kTimes = 5;
    WorkLedger work;
    MemoryLedger memory("bench");
    CpuDevice device(memory, work, threads);
    const Tensor x(device, DType::f32, {N, N}, "x"), y(device, DType::f32, {N, N}, "y");
    fill(x, 0.001);
    const auto compute = [&] {
      for (int i = 0; i < 300 * threads; ++i) linear(y, x, x);
    };
    const bool computes = world_.rank() == 0;
    std::vector<double> waited_for, alone;
    for (int i = 0; i < kTimes; ++i) {
      world_.all().barrier();
      if (computes) waited_for.push_back(seconds_of(compute));
      const double seconds = world_.all().max(computes ? waited_for.back() : 0);
      if (computes)
        alone.push_back(seconds_of(compute));
      else
        std::this_thread::sleep_for(std::chrono::duration<double>(1.3 * seconds));
    }
    world_.all().barrier();
    if (!computes) return;
    const std::string name = fmt::format("compute_{}_threads", threads);
    const std::string what = fmt::format("on {} threads", threads);
    say(name + "_ms", 1e3 * median(alone), "ms, one rank computes " + what + ", the others sleep");
    say(name + "_waited_for_ms", 1e3 * median(waited_for), "ms, the others wait");
    say(name + "_slowdown", median(waited_for) / median(alone), "times as long");
  }

 private:
  Tensor zeros(std::int64_t elements) {
    Tensor x(world_.device(), DType::f32, {elements}, "x");
    fill(x, 0);
    return x;
  }

  double from_a_barrier(const std::function<void()>& work) {
    world_.all().barrier();
    return seconds_of(work);
  }

  double median_of(int times, const std::function<void()>& work) {
    std::vector<double> seconds;
    for (int i = 0; i < times; ++i) seconds.push_back(from_a_barrier(work));
    return median(std::move(seconds));
  }

  void say(const std::string& name, double value, const std::string& what) {
    record_.push_back({name, {value}});
    if (world_.rank() == 0) fmt::print("  {:10.3f} {}\n", value, what);
  }

  World& world_;
  Record& record_;
};

void run(int ranks, const char* file) {
  const MpiJob job(ranks);
  World world(Options{}, job.start(), ProcessGrid({ranks, 1, 1, 1}));
  Record record = new_record("comm");
  record.push_back({"ranks", {std::int64_t{ranks}}});
  if (world.rank() == 0) fmt::print("{} ranks, {} cores\n", ranks, number(record, "cores"));
  Bench bench(world, record);
  bench.small();
  if (ranks == 2)
    for (const std::int64_t mebibytes : {4, 16}) bench.large(mebibytes);
  for (int threads = 1; threads <= 2; ++threads) bench.waiting(threads);
  world.all().barrier();
  if (file != nullptr && world.rank() == 0) keep(file, record);
}

}  // namespace

int main(int count, char** words) {
  try {
    if (count < 2) fail(ExitCode::usage, "mpiexec -n RANKS bench_comm RANKS [FILE]");
    run(static_cast<int>(parse_integer(words[1], "RANKS")), count > 2 ? words[2] : nullptr);
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    abort_mpi(error.code());
  }
}
