#include "lessons/09_cluster/rank_order.h"

#include <algorithm>

#include "base/check.h"

namespace shardlings::lesson09 {

int ranks_per_node(std::int64_t ranks, std::int64_t chips_per_node) {
  if (ranks > chips_per_node && ranks % chips_per_node != 0)
    fail(ExitCode::usage,
         "--chips-per-node: {} ranks do not fill nodes of {}; expected a divisor of {}, or at "
         "least {}",
         ranks, chips_per_node, ranks, ranks);
  return static_cast<int>(std::min(ranks, chips_per_node));
}

std::vector<int> ring_order(int n, int k, const std::string& order) {
  std::vector<int> ring;
  if (order == "near")
    for (int node = 0; node < n / k; ++node)
      for (int chip = 0; chip < k; ++chip) ring.push_back(node * k + chip);
  else  // the same two loops, the other way round
    for (int chip = 0; chip < k; ++chip)
      for (int node = 0; node < n / k; ++node) ring.push_back(node * k + chip);
  return ring;
}

int hops_between_nodes(const std::vector<int>& ring, int k) {
  int hops = 0;
  for (std::size_t i = 0; i < ring.size(); ++i)
    if (ring[i] / k != ring[(i + 1) % ring.size()] / k) hops += 1;
  return hops;
}

Communicator ring_of(Communicator& all, const std::vector<int>& ring) {
  const auto place = std::ranges::find(ring, all.rank()) - ring.begin();
  return all.split(0, static_cast<int>(place), "ring");
}

}  // namespace shardlings::lesson09
