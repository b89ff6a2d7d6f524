#include "course/world.h"

#include <numeric>
#include <thread>

#include "comm/device_collectives.h"
#include "device/cpu/cpu_device.h"
#include "device/cuda/cuda.h"
#include "device/guarded/guarded_device.h"

namespace shardlings {

namespace {

// The cores this process may run on.
int cores() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

// Ranks of one machine take its GPUs in turn.
std::unique_ptr<Device> make_device(const std::string& backend, MemoryLedger& memory,
                                    WorkLedger& work, int threads, int rank_on_this_machine) {
  if (backend.starts_with("cuda"))
    return make_cuda_device(
        memory, work,
        {.index = rank_on_this_machine % std::max(1, gpu_count()), .tf32 = backend == "cuda-tf32"});
  if (backend == "guarded") return std::make_unique<GuardedDevice>(memory, work, threads);
  CHECK(backend == "cpu", "no backend is called {}", backend);
  return std::make_unique<CpuDevice>(memory, work, threads);
}

// So long may no rank of a run get on, before the watchdog says who waits for what.
constexpr double kPatienceSeconds = 30;

std::vector<std::int64_t> all_ranks(const ProcessGrid& grid) {
  std::vector<std::int64_t> ranks(static_cast<std::size_t>(grid.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

// Beside a GPU, memory that it can copy to and from on its own.
std::unique_ptr<Device> make_host(const std::string& backend, MemoryLedger& memory,
                                  WorkLedger& work, int threads) {
  if (backend.starts_with("cuda")) return make_pinned_host_device(memory, work, threads);
  return std::make_unique<CpuDevice>(memory, work, threads);
}

}  // namespace

DType dtype_named(std::string_view name) {
  if (name == "f32") return DType::f32;
  if (name == "f64") return DType::f64;
  fail(ExitCode::usage, "--dtype: expected f32 or f64, got \"{}\"", name);
}

Cluster cluster_of(const Options& options) {
  Cluster cluster = options.cluster.empty() ? Cluster() : cluster_named(options.cluster);
  if (options.chips_per_node > 0) cluster.chips_per_node = options.chips_per_node;
  return cluster;
}

World::World(const Options& options) : World(options, start_alone(), ProcessGrid({1, 1, 1, 1})) {}

World::World(const Options& options, RankStart start, const ProcessGrid& grid)
    : ranks_on_this_machine_(start.ranks_on_this_machine),
      threads_(options.threads > 0 ? static_cast<int>(options.threads)
                                   : std::max(1, cores() / ranks_on_this_machine_)),
      grid_(grid),
      device_memory_("device", options.device_memory_bytes > 0 ? options.device_memory_bytes
                                                               : MemoryLedger::kNoCap),
      host_memory_("host"),
      clock_(cluster_of(options)),
      device_(make_device(options.backend, device_memory_, work_, threads_,
                          start.rank_on_this_machine)),
      host_(make_host(options.backend, host_memory_, work_, threads_)),
      recorder_(std::move(start.recorder)),
      progress_(recorder_, start.failed, kPatienceSeconds),
      all_(all_group(std::move(start.transport))),
      axes_{axis_group(Axis::dp), axis_group(Axis::pp), axis_group(Axis::cp),
            axis_group(Axis::tp)} {
  work_.set_listener([this](std::int64_t flops, std::int64_t bytes) {
    const double begin = clock_.now();
    clock_.compute(static_cast<double>(flops), static_cast<double>(bytes));
    clock_.record("compute", work_.range(), begin, clock_.now());
    recorder_.beat();
  });
}

Communicator World::all_group(std::unique_ptr<Transport> transport) {
  Communicator all(std::move(transport), "all", all_ranks(grid_),
                   {traffic_, clock_, work_, *host_, progress_});
  // NCCL wants a GPU for every rank.
  if (device_->kind() == "cuda" && all.size() > 1 && ranks_on_this_machine_ <= gpu_count() &&
      why_no_nccl().empty())
    all.use_nccl(*device_);
  return all;
}

std::string World::placement() const {
  std::string text =
      fmt::format("{} ranks, {} thread{} each", all_.size(), threads_, threads_ == 1 ? "" : "s");
  if (device_->kind() == "cuda" && ranks_on_this_machine_ > gpu_count())
    text += fmt::format("; {} of them share {} GPU{}, so that tensors travel through the host",
                        ranks_on_this_machine_, gpu_count(), gpu_count() == 1 ? "" : "s");
  return text;
}

World::~World() {
  recorder_.finish();
}

Communicator World::axis_group(Axis axis) {
  const std::vector<std::int64_t> group = grid_.group(all_.rank(), axis);
  const auto place = grid_.coordinates(all_.rank())[static_cast<std::size_t>(axis)];
  return all_.split(static_cast<int>(group.front()), static_cast<int>(place),
                    std::string(name_of(axis)));
}

}  // namespace shardlings
