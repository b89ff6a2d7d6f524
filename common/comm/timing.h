// When the ranks of a group would be done with their steps, on the modelled clock.
#pragma once

#include <functional>
#include <vector>

#include "clock/cluster.h"
#include "comm/steps.h"

namespace shardlings {

// Every rank begins its first step at `start` and each other one when the one before has ended. A
// message takes link(from, to).seconds(its bytes) from the beginning of its sender's step; a step
// ends when its messages have left and arrived. Empty messages are not sent and take no time.
// Requires: every message that somebody receives is sent by somebody, in the same order.
std::vector<double> finish_times(const std::vector<Steps>& steps, double bytes_per_element,
                                 double start,
                                 const std::function<const Link&(int from, int to)>& link);

}  // namespace shardlings
