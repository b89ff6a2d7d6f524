// Collectives, written over messages from one rank to another.
//
// N numbers are cut into n shards, one per rank, as `shard` of common/comm/steps.h cuts them:
// ceil(N/n) each, while they last. Ranks stand in a ring: rank r sends to r + 1, receives from
// r - 1, and all of them do so at once. Nobody's port carries more than anybody else's, whatever n.
// [Patarasuk and Yuan 2009]
//
// x has one dimension and as many elements on every rank. A shard without elements is not sent. In
// a group of one, nothing happens.
#pragma once

#include "comm/communicator.h"
#include "tensor/tensor.h"

namespace shardlings::lesson08 {

// Shards [first, end) of the n shards of x: a view of x.
Tensor shards(const Tensor& x, int n, int first, int end);

// After it, shard(rank) of x is the sum over all ranks; the rest of x is used up.
// Cost: n - 1 steps; sends all of x but shard(rank). Memory: one shard.
void reduce_scatter(const Tensor& x, Communicator& ring);

// Requires: shard(rank) of x is right. After it, all of x is.
// Cost: n - 1 steps; sends all of x but shard(rank + 1).
void all_gather(const Tensor& x, Communicator& ring);

// x = the sum over all ranks of x, with the same bits on each: every shard is added up on its way
// around the ring, by one rank after the other, and then copied.
// Cost: 2 (n-1) steps; sends 2 (n-1)/n of x, where n divides N. Memory: one shard.
void all_reduce(const Tensor& x, Communicator& ring);

// Shard r of `in` goes to rank r. `out` is what came from each rank, in their order.
// Requires: out has room for n times shard(rank). Cost: n - 1 steps; sends all of `in` but one
// shard.
void all_to_all(const Tensor& out, const Tensor& in, Communicator& group);

// The obvious all-reduce, to compare with: every rank sends x to rank 0, which adds and answers.
// Cost: all ranks together send what they send in the ring, but one port carries all of it: rank 0
// sends and receives (n-1) x, one after the other. Memory: x, on rank 0.
void star_all_reduce(const Tensor& x, Communicator& group);

}  // namespace shardlings::lesson08
