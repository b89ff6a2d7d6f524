#include "course/world.h"

#include <thread>

#include "device/cpu/cpu_device.h"
#include "device/cuda/cuda.h"
#include "device/guarded/guarded_device.h"

namespace shardlings {

namespace {

// The cores this process may run on.
int cores() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::unique_ptr<Device> make_device(const std::string& backend, MemoryLedger& memory,
                                    WorkLedger& work, int threads) {
  if (backend.starts_with("cuda"))
    return make_cuda_device(memory, work, {.tf32 = backend == "cuda-tf32"});
  if (backend == "guarded") return std::make_unique<GuardedDevice>(memory, work, threads);
  CHECK(backend == "cpu", "no backend is called {}", backend);
  return std::make_unique<CpuDevice>(memory, work, threads);
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

World::World(const Options& options)
    : threads_(options.threads > 0 ? static_cast<int>(options.threads) : cores()),
      device_memory_("device", options.device_memory_bytes > 0 ? options.device_memory_bytes
                                                               : MemoryLedger::kNoCap),
      host_memory_("host"),
      device_(make_device(options.backend, device_memory_, work_, threads_)),
      host_(make_host(options.backend, host_memory_, work_, threads_)) {}

}  // namespace shardlings
