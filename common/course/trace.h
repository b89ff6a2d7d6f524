// trace.json: what every rank did in a step, on the modelled clock, for a trace viewer.
//
// The form is that of Chrome's "Trace Event Format" (complete events, times in microseconds): a
// process per rank; in it, a thread for what it computes and one for each group it talks to.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "clock/clock.h"

namespace shardlings {

// One rank's events, to be gathered. Requires: names without quotes and control characters.
std::string trace_of_rank(const std::vector<ClockEvent>& events, int rank);

// Writes those of all ranks to directory/trace.json, whole or not at all, and returns its path.
// Errors: Error(io).
std::filesystem::path write_trace(const std::vector<std::string>& ranks,
                                  const std::filesystem::path& directory);

}  // namespace shardlings
