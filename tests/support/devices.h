// The devices of this build and machine, so that a test written once runs on all of them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "device/cpu/cpu_device.h"
#include "device/cuda/cuda.h"
#include "device/guarded/guarded_device.h"
#include "tests/support/emulated_gpu.h"

namespace shardlings {

struct TestDevice {
  std::string name;
  // Devices with the same kernels give the same results, to the last bit.
  std::string kernels;
  std::function<std::unique_ptr<Device>(MemoryLedger&, WorkLedger&)> make;
  double f32_tolerance = 1e-5;  // relative to the largest value of a tensor
};

// The first one is the CPU on one thread, the last one the guarded device.
inline std::vector<TestDevice> test_devices() {
  static const bool has_gpu = why_no_cuda().empty();
  std::vector<TestDevice> devices;
  for (const int threads : {1, 2, 3})
    devices.push_back({fmt::format("cpu, threads {}", threads), "cpu",
                       [threads](MemoryLedger& memory, WorkLedger& work) {
                         return std::make_unique<CpuDevice>(memory, work, threads);
                       }});
  for (const bool backwards : {false, true})
    devices.push_back({fmt::format("emulated gpu, {}", backwards ? "backwards" : "forwards"),
                       "emulated gpu", [backwards](MemoryLedger& memory, WorkLedger& work) {
                         return std::make_unique<EmulatedGpu>(memory, work, backwards);
                       }});
  for (const bool tf32 : {false, true})
    if (has_gpu)
      devices.push_back({tf32 ? "cuda, tf32" : "cuda", tf32 ? "cuda, tf32" : "cuda",
                         [tf32](MemoryLedger& memory, WorkLedger& work) {
                           return make_cuda_device(memory, work, {.tf32 = tf32});
                         },
                         tf32 ? 1e-3 : 1e-5});
  devices.push_back({"guarded", "cpu", [](MemoryLedger& memory, WorkLedger& work) {
                       return std::make_unique<GuardedDevice>(memory, work, 2);
                     }});
  return devices;
}

}  // namespace shardlings
