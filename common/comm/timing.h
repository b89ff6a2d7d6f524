// When the ranks of a group would be done with their steps, on the modelled clock.
#pragma once

#include <span>
#include <vector>

#include "clock/cluster.h"
#include "comm/steps.h"

namespace shardlings {

// Every rank begins its first step at `start` and each other one when the one before has ended. A
// message takes alpha + bytes / beta of the link it crosses from the beginning of its sender's
// step; a step ends when its messages have left and arrived. Empty messages are not sent and take
// no time.
//
// Ranks of the group on one node pool their ports to other nodes: those that send out of the node
// in a step share the rate of all of them. So a ring that leaves a node once leaves by every port
// of the group, as NCCL's rings do, of which there is one per port; one that leaves with every hop
// has a port per hop. The way to the other ports is the link inside, and no message is faster than
// that. [github.com/NVIDIA/nccl, issues 820 (the rings) and 812 (192 GB/s from 8 ports of 25 GB/s)]
//
// `ranks`: where the ranks of the group are in the cluster.
// Requires: every message that somebody receives is sent by somebody, in the same order.
std::vector<double> finish_times(const std::vector<Steps>& steps, double bytes_per_element,
                                 double start, const Cluster& cluster,
                                 std::span<const std::int64_t> ranks);

}  // namespace shardlings
