// alpha and beta of a link from messages that were timed on it.
#pragma once

#include <span>
#include <string>

#include "clock/cluster.h"

namespace shardlings::lesson09 {

// One message, from when it was sent to when it had arrived.
struct TimedMessage {
  double bytes = 0, seconds = 0;
};

// The line seconds = alpha + bytes / beta that lies closest to the points, each measured against
// its own time: a microsecond counts in a short message, not in a long one. An alpha that comes out
// below zero is zero.
// Requires: points of two sizes at least, all seconds above zero.
// Errors: Error(bad_data) when larger messages are not slower, so that there is no beta.
Link fit_link(const std::string& name, std::span<const TimedMessage> points);

}  // namespace shardlings::lesson09
