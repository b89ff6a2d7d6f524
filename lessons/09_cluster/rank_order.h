// Where ranks are in a cluster, and in which order a ring visits them.
//
// Ranks fill one node after the other: with k to a node, rank r is chip r % k of node r / k. A ring
// sends from every rank to the next one in its order. On 2 nodes of 4:
//
//   near   0 1 2 3 | 4 5 6 7 |         2 of 8 hops leave a node
//   far    0 | 4 | 1 | 5 | 2 | 6 | 3 | 7 |    all 8 do
//
// The far order is what a launcher makes that deals ranks out to the nodes like cards.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/communicator.h"

namespace shardlings::lesson09 {

// How many ranks share a node: k, or all of them on a single node that is not full.
// Errors: Error(usage) when the last of several nodes would not be full.
int ranks_per_node(std::int64_t ranks, std::int64_t chips_per_node);

// The ranks in the order of the ring. `order` is "near" or "far". Requires: k divides n.
std::vector<int> ring_order(int n, int k, const std::string& order);

// How many of the ring's hops leave a node; the last rank sends to the first.
int hops_between_nodes(const std::vector<int>& ring, int k);

// The same ranks as a group whose rings take this order. Every rank calls it.
Communicator ring_of(Communicator& all, const std::vector<int>& ring);

}  // namespace shardlings::lesson09
