// Building parts of the course, quietly.
#pragma once

#include <string>

#include "tools/driver/process.h"

namespace shardlings {

// Runs a step of a build. It speaks when it takes longer than two seconds (`what`, with ninja's
// count on a terminal) and when it fails (the compiler's messages). All of its output is kept in
// log/ of the build folder, in `log`.txt.
// Errors: Error(bad_data) that names the log.
void run_quietly(const CommandLine& command, const std::string& what, const std::string& log);

// Builds a target of this build folder.
void build_target(const std::string& target, const std::string& what);

}  // namespace shardlings
