// Exercise 08: an all-reduce in fewer steps, by recursive halving and doubling.
//
// Of p ranks, where p is a power of two, each half exchanges with the other; then each half of a
// half, and so on: log2(p) steps out and as many back, where the ring takes p - 1 each.
// [Thakur, Rabenseifner and Gropp 2005, section 4]
//
// solutions/08_collectives/exercise.cpp holds the course's answer, exercises/08_collectives/ yours.
#pragma once

#include "comm/communicator.h"
#include "tensor/tensor.h"

namespace shardlings::lesson08 {

// x has one dimension and as many elements on every rank. Ranks 0 to p - 1 of the group take part;
// no other rank calls the first two. p is a power of two and at most n.

// After it, shard(rank) of the p shards of x is the sum over the p ranks; the rest is used up.
// Cost: log2(p) steps; sends all of x but shard(rank).
void halving_reduce_scatter(const Tensor& x, Communicator& group, int p);

// Requires: shard(rank) of the p shards of x is right. After it, all of x is.
// Cost: log2(p) steps; the p ranks together send (p-1) x.
void doubling_all_gather(const Tensor& x, Communicator& group, int p);

// The bonus: x = the sum over all n ranks, where n is more than p and less than 2 p, with the same
// bits on each rank. All n ranks call it.
// Cost: two steps more; all ranks together send 2 (n-1) x, as in the ring, and no rank more than
// x + 2 (p-1)/p x.
void folded_all_reduce(const Tensor& x, Communicator& group, int p);

}  // namespace shardlings::lesson08
