// One rank of a test program: instruments around a communicator, and values that tell ranks apart.
#pragma once

#include "comm/communicator.h"
#include "comm/threads.h"
#include "device/cpu/cpu_device.h"

namespace shardlings {

struct Rank {
  explicit Rank(RankStart start, double patience_seconds = 30)
      : ranks_on_this_machine(start.ranks_on_this_machine),
        rank_on_this_machine(start.rank_on_this_machine),
        recorder(std::move(start.recorder)),
        progress(recorder, start.failed, patience_seconds),
        n(start.transport->size()),
        all(std::move(start.transport), "all", counted(n),
            {traffic, clock, work, device, progress}) {}
  ~Rank() { recorder.finish(); }

  static std::vector<std::int64_t> counted(int n) {
    std::vector<std::int64_t> ranks;
    for (int rank = 0; rank < n; ++rank) ranks.push_back(rank);
    return ranks;
  }

  Tensor tensor(const std::vector<double>& values, DType dtype = DType::f32) {
    Tensor x(device, dtype, {std::ssize(values)}, "x");
    x.from_doubles(values);
    return x;
  }
  Tensor zeros(std::int64_t N, DType dtype = DType::f32) {
    return tensor(std::vector<double>(static_cast<std::size_t>(N)), dtype);
  }

  int ranks_on_this_machine, rank_on_this_machine;
  MemoryLedger memory{"memory"};
  WorkLedger work;
  CpuDevice device{memory, work, 1};
  TrafficLedger traffic;
  Clock clock;
  FlightRecorder recorder;
  Progress progress;
  int n;
  Communicator all;
};

}  // namespace shardlings
