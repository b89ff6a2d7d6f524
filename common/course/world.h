// What one rank works with: its devices and its instruments. There are no globals; a World is
// passed down.
#pragma once

#include <memory>
#include <string_view>

#include "course/options.h"
#include "device/device.h"

namespace shardlings {

// The element type that --dtype names.
DType dtype_named(std::string_view name);

class World {
 public:
  // Errors: Error(unavailable) when the backend is not part of this build or machine.
  explicit World(const Options& options);

  // Where training happens.
  Device& device() { return *device_; }
  // The CPU's memory, for what is kept or prepared off the device; page-locked beside a GPU. On the
  // CPU backend it is a second, separate tier: the budget does not care where it is.
  Device& host() { return *host_; }

  MemoryLedger& device_memory() { return device_memory_; }
  MemoryLedger& host_memory() { return host_memory_; }
  WorkLedger& work() { return work_; }

  int threads() const { return threads_; }

 private:
  int threads_;
  MemoryLedger device_memory_, host_memory_;
  WorkLedger work_;
  std::unique_ptr<Device> device_, host_;
};

}  // namespace shardlings
