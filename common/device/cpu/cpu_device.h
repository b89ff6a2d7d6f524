// The CPU as a device: every operation runs at once, on the given number of threads.
#pragma once

#include "device/cpu/cpu.h"
#include "device/device.h"
#include "device/free_blocks.h"

namespace shardlings {

class CpuDevice : public Device {
 public:
  // Requires: threads >= 1.
  CpuDevice(MemoryLedger& memory, WorkLedger& work, int threads);
  ~CpuDevice() override;

  std::string_view kind() const override { return "cpu"; }
  bool host_can_access() const override { return true; }
  void upload(void* to, const void* from, std::int64_t bytes, Stream stream) override;
  void download(void* to, const void* from, std::int64_t bytes, Stream stream) override;
  Event record(Stream stream) override { return {stream, 0}; }
  void wait(Stream, Event) override {}
  void synchronize(Stream) override {}

 protected:
  void run(const Operation& operation, Stream stream) override;

 private:
  void* acquire(std::int64_t bytes) override;
  void release(void* data, std::int64_t bytes) override;

  Cpu cpu_;
  FreeBlocks free_blocks_;
};

}  // namespace shardlings
