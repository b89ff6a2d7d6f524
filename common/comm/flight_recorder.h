// What every rank of a job did last, in memory that all of them see: so that a job that hangs can
// say where.
//
// A rank writes its own slot only. Times are of the machine's monotonic clock, which the processes
// of one machine share.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace shardlings {

// A block of shared memory, all zero at first.
class SharedMemory {
 public:
  // Among the threads of this process, and its children.
  explicit SharedMemory(std::int64_t bytes);
  // A file that several processes open: made when it is not there. Errors: Error(io).
  SharedMemory(const std::string& file, std::int64_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  void* data() const { return data_; }

 private:
  void* data_;
  std::int64_t bytes_;
};

class FlightRecorder {
 public:
  static std::int64_t bytes(int ranks);

  // Requires: `memory` has bytes(ranks) bytes, the same memory on all ranks.
  FlightRecorder(std::shared_ptr<SharedMemory> memory, int rank, int ranks);

  // This rank is alive and gets on.
  void beat();
  // The same, and what it does: "dp all_reduce gradients, 4096 f32, operation 17".
  void note(std::string_view call);
  // Seconds since any rank got on; ranks that have finished do not count.
  double quiet_seconds() const;
  void finish();

  // One line per rank: its last calls, the latest first, and how long ago.
  std::string table() const;

 private:
  struct Slot;
  Slot& slot(int rank) const;

  std::shared_ptr<SharedMemory> memory_;
  int rank_, ranks_;
};

}  // namespace shardlings
