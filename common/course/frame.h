// The frame around every lesson's program: options in, exit code out, one place where errors end.
#pragma once

#include <functional>
#include <string>

#include "base/check.h"
#include "course/options.h"

namespace shardlings {

// What a lesson does with its options. Returns ok or check_failed; anything worse is thrown.
using LessonMain = std::function<ExitCode(const Options& options)>;

// Reads the options, runs the lesson and returns what main() returns. An error becomes one line on
// standard error and its exit code.
int run_main(int argc, const char* const* argv, const LessonCard& card, const LessonMain& lesson);

struct Failure {
  ExitCode code = ExitCode::broken;
  std::string line;
  std::string details = {};  // a table below the line, for instance of what was alive
};

// What the reader is told about the exception in flight: "error: what", or "rank 2: what" in a run
// of several ranks. Requires: called while handling an exception.
Failure current_failure(int rank = 0, int ranks = 1);

}  // namespace shardlings
