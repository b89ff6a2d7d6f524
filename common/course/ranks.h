// Starts the ranks of a run.
#pragma once

#include <functional>

#include "comm/threads.h"
#include "course/options.h"

namespace shardlings {

// Calls body for every rank of this process: all of them where ranks are threads, one where each is
// a process of its own. Errors: RankFailure, of the first rank that failed.
void run_ranks(const Options& options, const std::function<void(RankStart)>& body);

}  // namespace shardlings
