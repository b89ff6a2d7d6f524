// The modelled clock: when this rank would be done on the cluster that was asked for.
//
// One per rank, driven by what the rank really does: operations take the time of a roofline,
// messages that of the link they cross. Nothing here looks at real time, so the same run always
// comes to the same numbers. Times are seconds since the start.
//
//   compute(work)   now += max(FLOPs / peak, bytes / memory bandwidth)
//   arrive(...)     the rank needs, now, what comes at `arrival` after a transfer of that length:
//                   idle = max(0, arrival - now); min(idle, transfer) of it is exposed
//                   communication, the rest is bubble: the sender was late
//
// A transfer occupies the lane of its link class on this rank until it ends, and lanes run beside
// compute. Whoever starts one that is not waited for at once says so: occupy().
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "clock/cluster.h"

namespace shardlings {

// Where the time of a rank goes. Seconds; step = compute + exposed + bubble.
struct ClockTime {
  double compute = 0, exposed_communication = 0, bubble = 0;

  double total() const { return compute + exposed_communication + bubble; }
  ClockTime operator-(const ClockTime& other) const {
    return {compute - other.compute, exposed_communication - other.exposed_communication,
            bubble - other.bubble};
  }
  bool operator==(const ClockTime&) const = default;
};

// Something that took time, for a picture: on lane "compute", or on the lane of a group of ranks.
struct ClockEvent {
  std::string lane, name;
  double begin = 0, end = 0;  // seconds since the start

  bool operator==(const ClockEvent&) const = default;
};

class Clock {
 public:
  // Without a cluster, no time passes. The cluster is copied.
  Clock() = default;
  explicit Clock(const Cluster& cluster) : cluster_(cluster) {}

  const Cluster& cluster() const { return cluster_; }

  // FLOPs of matrix products, and bytes that are read and written. Requires: neither is negative.
  void compute(double flops, double bytes);

  // A transfer over `link` cannot begin before this.
  double earliest_start(const Link& link) const;
  // A transfer that has started uses the lane of `link` until then, whether or not this rank waits.
  void occupy(const Link& link, double until);
  // Requires: neither is negative.
  void arrive(const Link& link, double arrival, double transfer);
  // At the end of a step: the wait for the slowest rank is bubble.
  void wait_until(double time);

  // What took no time is left out; what goes on where the latest event of the same name ended is
  // part of it.
  void record(const std::string& lane, const std::string& name, double begin, double end);
  // All events since the last time, in the order in which they were recorded.
  std::vector<ClockEvent> take_events() { return std::exchange(events_, {}); }

  double now() const { return spent_.total(); }
  const ClockTime& spent() const { return spent_; }

 private:
  Cluster cluster_;
  ClockTime spent_;
  std::map<std::string, double> lane_free_;  // by link class
  std::vector<ClockEvent> events_;
};

}  // namespace shardlings
