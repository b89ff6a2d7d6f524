// The devices of this build, so that a test written once runs on all of them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "device/cpu/cpu_device.h"
#include "device/guarded/guarded_device.h"

namespace shardlings {

struct TestDevice {
  std::string name;
  // Its kernels are the CPU's, so its results equal the first device's to the last bit.
  bool is_cpu;
  std::function<std::unique_ptr<Device>(MemoryLedger&, WorkLedger&)> make;
};

// The first one is the CPU on one thread.
inline std::vector<TestDevice> test_devices() {
  std::vector<TestDevice> devices;
  for (const int threads : {1, 2, 3})
    devices.push_back({fmt::format("cpu, threads {}", threads), true,
                       [threads](MemoryLedger& memory, WorkLedger& work) {
                         return std::make_unique<CpuDevice>(memory, work, threads);
                       }});
  devices.push_back({"guarded", true, [](MemoryLedger& memory, WorkLedger& work) {
                       return std::make_unique<GuardedDevice>(memory, work, 2);
                     }});
  return devices;
}

}  // namespace shardlings
