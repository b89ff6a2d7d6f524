#include "clock/clock.h"

#include <algorithm>

#include "base/check.h"

namespace shardlings {

void Clock::compute(double flops, double bytes) {
  CHECK(flops >= 0 && bytes >= 0, "work of {} FLOPs on {} bytes", flops, bytes);
  const Chip& chip = cluster_.chip;
  spent_.compute += std::max(flops / chip.flops, bytes / chip.memory_bandwidth);
}

double Clock::earliest_start(const Link& link) const {
  const auto lane = lane_free_.find(link.name);
  return lane == lane_free_.end() ? now() : std::max(now(), lane->second);
}

void Clock::occupy(const Link& link, double until) {
  double& free = lane_free_[link.name];
  free = std::max(free, until);
}

void Clock::arrive(const Link& link, double arrival, double transfer) {
  CHECK(arrival >= 0 && transfer >= 0, "a transfer of {} s that arrives at {} s", transfer,
        arrival);
  occupy(link, arrival);
  const double idle = std::max(0.0, arrival - now());
  const double exposed = std::min(idle, transfer);
  spent_.exposed_communication += exposed;
  spent_.bubble += idle - exposed;
}

void Clock::record(const std::string& lane, const std::string& name, double begin, double end) {
  if (end <= begin) return;
  if (!events_.empty()) {
    ClockEvent& latest = events_.back();
    if (latest.lane == lane && latest.name == name && latest.end == begin) {
      latest.end = end;
      return;
    }
  }
  events_.push_back({lane, name, begin, end});
}

void Clock::wait_until(double time) {
  spent_.bubble += std::max(0.0, time - now());
}

}  // namespace shardlings
