// Collectives as data: what one rank sends, receives and adds, step by step.
//
// A step begins when the one before has ended. In it the rank sends one range of elements and
// receives another; what it receives is added to what is there, or takes its place. The same list
// is carried out on real ranks (exchange.h), timed on the modelled clock, and printed by lesson 08.
#pragma once

#include <cstdint>
#include <vector>

namespace shardlings {

// Elements [begin, begin + count) of a buffer.
struct Span {
  std::int64_t begin = 0;
  std::int64_t count = 0;
  bool operator==(const Span&) const = default;
};

// The r-th of n shards of N elements: ceil(N/n) each, while they last (10 over 3: 4, 4, 2; 3 over
// 4: 1, 1, 1, 0).
Span shard(std::int64_t N, int n, int r);

inline constexpr int kNobody = -1;

struct Step {
  int to = kNobody;
  Span send = {};
  int from = kNobody;
  Span receive = {};
  bool reduce = false;  // combined with what is there
  bool operator==(const Step&) const = default;
};
using Steps = std::vector<Step>;

// Rings: rank r sends to r + 1 and receives from r - 1, n - 1 times. Shards are numbered by the
// rank that ends up with the sum (reduce-scatter) or begins with the values (all-gather).
//
// Cost: n - 1 steps. All ranks together send (n-1) N elements: (n-1)/n N each, where n divides N.
// A shard's sum is formed in the order of the ring, whichever rank asks: shard s as
// x_{s+1} + x_{s+2} + ... + x_s. So all ranks get the same bits. [Patarasuk and Yuan 2009, section
// 4]
Steps ring_reduce_scatter(std::int64_t N, int n, int rank);
Steps ring_all_gather(std::int64_t N, int n, int rank);
// Both, one after the other. Cost: 2 (n-1) steps, 2 (n-1)/n N elements sent.
Steps ring_all_reduce(std::int64_t N, int n, int rank);
// Root to its right-hand neighbour, and so on to the one left of root. Cost: N elements per rank
// but the last.
Steps chain_broadcast(std::int64_t N, int n, int rank, int root);

}  // namespace shardlings
