// Exercise 09: the all-reduce in two levels.
//
// A node's links inside are several times as fast as its ports to other nodes. So as little as
// possible should leave a node, and not twice.
//
// solutions/09_cluster/exercise.cpp holds the course's answer, exercises/09_cluster/ yours.
#pragma once

#include "comm/communicator.h"

namespace shardlings::lesson09 {

// The two groups that a rank belongs to.
struct Levels {
  Communicator node;    // the ranks on its node, called "node"
  Communicator across;  // one rank of every node, itself among them, called "across"
};

// Ranks [0, k) of `all` are on one node, [k, 2 k) on the next, and so on.
// Requires: k divides the number of ranks. Every rank calls it.
Levels levels_of(Communicator& all, int k);

// x = the sum over all ranks of x.
// Cost, for nodes of k ranks and N elements: 2 (k-1) N cross the links inside each node. Of every
// node's sum, each rank sends 2 (nodes-1)/nodes of its own part, N/k, to other nodes.
// Any N: parts are those of shard(), comm/steps.h. The rows of the traffic ledger are called
// "numbers".
void two_level_all_reduce(const Tensor& x, Levels& levels);

}  // namespace shardlings::lesson09
