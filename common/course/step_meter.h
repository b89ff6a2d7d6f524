// What one step of a run takes: work, traffic, and time, on the modelled clock and on the wall.
#pragma once

#include <chrono>
#include <vector>

#include "course/world.h"

namespace shardlings {

class StepMeter {
 public:
  explicit StepMeter(World& world) : world_(world) {}

  void begin();
  // On the modelled clock, a step ends on all ranks when it ends on the slowest. All ranks call
  // this.
  void end();

  // Of the last step, on this rank.
  const Work& work() const { return work_; }
  const TrafficLedger::Rows& traffic() const { return traffic_; }
  const ClockTime& clock() const { return clock_; }
  // On the modelled clock, from the beginning of the step.
  const std::vector<ClockEvent>& events() const { return events_; }

  // Real time: of a step in the middle of all; since the first began. Requires: a step has ended.
  double median_seconds() const;
  double seconds_so_far() const;

 private:
  using WallTime = std::chrono::steady_clock::time_point;

  World& world_;
  WallTime first_began_ = {}, began_ = {};
  Work work_before_ = {}, work_ = {};
  TrafficLedger::Rows traffic_before_ = {}, traffic_ = {};
  ClockTime clock_before_ = {}, clock_ = {};
  std::vector<ClockEvent> events_ = {};
  std::vector<double> seconds_ = {};
};

}  // namespace shardlings
