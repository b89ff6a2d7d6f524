// A device: memory that the ledger watches, and streams that run operations in order.
//
// Host code never touches device memory. It allocates, launches, and downloads; an address returned
// by Storage::data() means something to the device's operations only. (The CPU device would forgive
// a direct read, the guarded test device faults, a GPU does as well.)
//
// Work given to one stream runs in the order given. Work on different streams is ordered by events
// only. Memory is reused in the order of the compute stream: a storage that another stream still
// reads or writes must not be dropped before compute has waited for it.
//
// Ownership: a device outlives its storages. The ledgers outlive the device.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "device/operations.h"
#include "ledger/memory_ledger.h"
#include "ledger/work_ledger.h"

namespace shardlings {

class Device;

enum class Stream { compute, communication, copy };
inline constexpr int kStreams = 3;

// A point in a stream's work.
struct Event {
  Stream stream = Stream::compute;
  std::uint64_t ticket = 0;
};

// One block of device memory; the ledger counts it from construction to destruction.
class Storage {
 public:
  Storage(Device& device, void* data, std::int64_t bytes, Category category,
          std::string_view owner);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  Device& device() const { return device_; }
  void* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }
  Category category() const { return category_; }

  // While somebody holds a storage for the backward pass it counts as `activations`, if it was
  // `workspace` or `communication` before; at the last drop it counts as that again.
  void hold_for_backward();
  void drop();

 private:
  bool is_retagged() const;

  Device& device_;
  void* data_;
  std::int64_t bytes_;
  Category category_;
  MemoryLedger::Entry entry_;
  int holders_ = 0;
};

class Device {
 public:
  Device(MemoryLedger& memory, WorkLedger& work) : memory_(memory), work_(work) {}
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // "cpu", "guarded", "cuda".
  virtual std::string_view kind() const = 0;

  // Contents are undefined (NaN on the guarded device). `owner` names who asked, for the ledger.
  // Errors: OutOfMemory above the ledger's cap; Error(out_of_memory) when the machine has no more.
  std::shared_ptr<Storage> allocate(std::int64_t bytes, Category category, std::string_view owner);

  // Beside compute, other streams take no time of their own on the modelled clock: what they move
  // and add up is part of a transfer.
  void launch(const Operation& operation, Stream stream = Stream::compute) {
    work_.add(work_of(operation), stream == Stream::compute ? moved_bytes_of(operation) : 0);
    run(operation, stream);
  }

  // Whether host code may read and write the device's memory where it is.
  virtual bool host_can_access() const { return false; }

  // Host to device. `from` may be changed as soon as upload returns.
  virtual void upload(void* to, const void* from, std::int64_t bytes,
                      Stream stream = Stream::compute) = 0;
  // Device to host. `to` holds the data once synchronize(stream) has returned, no earlier.
  virtual void download(void* to, const void* from, std::int64_t bytes,
                        Stream stream = Stream::compute) = 0;

  virtual Event record(Stream stream) = 0;
  // What is given to `stream` from now on runs after `event`.
  virtual void wait(Stream stream, Event event) = 0;
  // Returns when everything given to `stream` has been done.
  virtual void synchronize(Stream stream = Stream::compute) = 0;

  // See Range.
  virtual void begin_range(std::string_view) {}
  virtual void end_range() {}

  MemoryLedger& memory() const { return memory_; }
  WorkLedger& work() const { return work_; }

 protected:
  friend class Storage;
  virtual void* acquire(std::int64_t bytes) = 0;  // null when there is no more
  virtual void release(void* data, std::int64_t bytes) = 0;
  virtual void run(const Operation& operation, Stream stream) = 0;

 private:
  MemoryLedger& memory_;
  WorkLedger& work_;
};

// Gives what is launched during its life a name, a layer's for instance: in the timeline of the
// modelled clock, and on GPUs as an NVTX range in a profiler's picture.
class Range {
 public:
  Range(Device& device, std::string_view name) : device_(device) {
    device.work().enter(name);
    device.begin_range(name);
  }
  ~Range() {
    device_.end_range();
    device_.work().leave();
  }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  Device& device_;
};

}  // namespace shardlings
