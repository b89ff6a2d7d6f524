// The CPU's kernels behind a GPU's rules: the device on which a laptop finds a GPU's bugs.
//
//   a GPU's rule                               whoever breaks it
//   host code never touches device memory      dies at that very line: tensors' addresses fault
//   a launch returns before its work is done   finds old values: work waits in its stream's queue
//                                              until somebody synchronizes
//   streams are ordered by events alone        finds old values: each queue runs as late as events
//                                              and synchronize allow
//   memory comes in the order of the compute   reads NaN; or, on another stream, has what it wrote
//   stream, with anything in it                turned into NaN when compute gets there
//   memory goes in that order too              reads NaN as soon as compute has passed the free
//
// Work runs on the calling thread, in an order that depends on the program alone: one of the orders
// that a GPU may take, the same every time. Results equal the CPU device's, to the last bit.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>

#include "device/cpu/cpu.h"
#include "device/device.h"

namespace shardlings {

class GuardedDevice final : public Device {
 public:
  static constexpr std::int64_t kArenaBytes = std::int64_t{4} << 30;

  // Requires: threads >= 1; arena_bytes a multiple of the page size.
  // Cost: address space of twice the arena; memory only for the pages that were ever in use.
  GuardedDevice(MemoryLedger& memory, WorkLedger& work, int threads,
                std::int64_t arena_bytes = kArenaBytes);
  // Work that nobody waited for is dropped.
  ~GuardedDevice() override;

  std::string_view kind() const override { return "guarded"; }
  void upload(void* to, const void* from, std::int64_t bytes, Stream stream) override;
  void download(void* to, const void* from, std::int64_t bytes, Stream stream) override;
  Event record(Stream stream) override;
  void wait(Stream stream, Event event) override;
  void synchronize(Stream stream) override;

 private:
  using Job = std::function<void()>;

  struct Queue {
    std::deque<Job> jobs;
    std::uint64_t taken = 0;  // jobs that left the queue since the start
  };

  void* acquire(std::int64_t bytes) override;
  void release(void* data, std::int64_t bytes) override;
  void run(const Operation& operation, Stream stream) override;

  void give(Stream stream, Job job);
  void run_until(Event event);

  void* take_first_fit(std::int64_t size);
  void give_back(void* data, std::int64_t size);
  void poison(void* data, std::int64_t size) const;

  Cpu cpu_;
  std::int64_t arena_bytes_;
  std::byte* arena_;  // the half that kernels see; the half that tensors see follows it
  std::map<std::byte*, std::int64_t> free_;  // free blocks as tensors see them, neighbours merged
  std::array<Queue, kStreams> queues_;
};

}  // namespace shardlings
