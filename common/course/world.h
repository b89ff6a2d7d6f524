// What one rank works with: its devices, its instruments and the groups it belongs to. There are no
// globals; a World is passed down.
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "comm/communicator.h"
#include "comm/process_grid.h"
#include "comm/threads.h"
#include "course/options.h"
#include "device/device.h"

namespace shardlings {

// The element type that --dtype names.
DType dtype_named(std::string_view name);

// The cluster of the modelled clock: the one that --cluster names, with --chips-per-node.
// Errors: those of cluster_named().
Cluster cluster_of(const Options& options);

class World {
 public:
  // A rank by itself. Errors: Error(unavailable) when the backend is not part of this build or
  // machine; those of cluster_named().
  explicit World(const Options& options);
  // One of several, at its place in the grid. Every rank makes its World at the same time.
  // Requires: as many ranks as the grid has places.
  World(const Options& options, RankStart start, const ProcessGrid& grid);
  ~World();

  // Where training happens.
  Device& device() { return *device_; }
  // The CPU's memory, for what is kept or prepared off the device; page-locked beside a GPU. On the
  // CPU backend it is a second, separate tier: the budget does not care where it is.
  Device& host() { return *host_; }

  MemoryLedger& device_memory() { return device_memory_; }
  MemoryLedger& host_memory() { return host_memory_; }
  WorkLedger& work() { return work_; }
  TrafficLedger& traffic() { return traffic_; }
  Clock& clock() { return clock_; }

  const ProcessGrid& grid() const { return grid_; }
  int rank() const { return all_.rank(); }  // in the whole run
  // Every rank of the run, and those that differ from this one on one axis alone.
  Communicator& all() { return all_; }
  Communicator& along(Axis axis) { return axes_[static_cast<std::size_t>(axis)]; }
  Communicator& dp() { return along(Axis::dp); }
  Communicator& pp() { return along(Axis::pp); }
  Communicator& cp() { return along(Axis::cp); }
  Communicator& tp() { return along(Axis::tp); }

  int threads() const { return threads_; }
  // "4 ranks, 1 thread each": what the ranks of this machine share, for the reader.
  std::string placement() const;

 private:
  Communicator all_group(std::unique_ptr<Transport> transport);
  Communicator axis_group(Axis axis);

  int ranks_on_this_machine_, threads_;
  ProcessGrid grid_;
  MemoryLedger device_memory_, host_memory_;
  WorkLedger work_;
  TrafficLedger traffic_;
  Clock clock_;
  std::unique_ptr<Device> device_, host_;
  FlightRecorder recorder_;
  Progress progress_;
  Communicator all_;
  std::array<Communicator, kAxes> axes_;
};

}  // namespace shardlings
