#include "lessons/09_cluster/host_hops.h"

#include <algorithm>

namespace shardlings::lesson09 {

std::vector<Stretch> stretches(const Link& between, bool rdma) {
  const double pcie = kPcieBytesPerSecond, wire = std::min(pcie, between.bandwidth);
  if (rdma) return {{"chip", "chip", wire}};
  return {{"chip", "host", pcie}, {"host", "host", wire}, {"host", "chip", pcie}};
}

double message_seconds(const Link& between, bool rdma, double bytes) {
  double seconds = between.latency;
  for (const Stretch& stretch : stretches(between, rdma))
    seconds += bytes / stretch.bytes_per_second;
  return seconds;
}

double host_memory_bytes(bool rdma, double bytes) {
  double moved = 0;
  for (const Stretch& stretch : stretches({}, rdma))
    moved += bytes * ((stretch.from == "host" ? 1 : 0) + (stretch.to == "host" ? 1 : 0));
  return moved;
}

}  // namespace shardlings::lesson09
