#include "course/world.h"

#include <thread>

#include "device/cpu/cpu_device.h"
#include "device/guarded/guarded_device.h"

namespace shardlings {

namespace {

// The cores this process may run on.
int cores() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::unique_ptr<Device> make_device(const std::string& backend, MemoryLedger& memory,
                                    WorkLedger& work, int threads) {
  if (backend == "cpu") return std::make_unique<CpuDevice>(memory, work, threads);
  if (backend == "guarded") return std::make_unique<GuardedDevice>(memory, work, threads);
  fail(ExitCode::unavailable, "--backend {}: not part of this build; --backend cpu runs anywhere",
       backend);
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
      host_(std::make_unique<CpuDevice>(host_memory_, work_, threads_)) {}

}  // namespace shardlings
