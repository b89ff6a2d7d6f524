// Ping-pong: what a message takes between two ranks of this run, in real time.
//
// These are the course's own messages: a control record of 64 bytes goes before each payload, and
// tensors of a GPU that NCCL does not serve are staged through the host. Ranks that are threads or
// processes of one machine measure its memory, whatever nodes they are taken to be on.
#pragma once

#include <filesystem>
#include <vector>

#include "course/world.h"
#include "lessons/09_cluster/fit.h"

namespace shardlings::lesson09 {

// Of each size half the fastest of several round trips, the one least disturbed, between
// ranks 0 and `other`; on ranks other than 0, nothing. Every rank calls it.
std::vector<TimedMessage> ping_pong(World& world, int other);

// The run's cluster with both links fitted to ping-pongs of rank 0 with all others: those on its
// node, and those on other nodes. A link that nobody is on stays as it is, and so does the chip.
// Requires: at least two ranks. Every rank calls it; what rank 0 returns is the result.
Cluster fitted_cluster(World& world);

// fitted_cluster(), written by rank 0 for --cluster. Errors: those of write_cluster().
void fit_to_file(World& world, const std::filesystem::path& path);

}  // namespace shardlings::lesson09
