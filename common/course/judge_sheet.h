// The judge of a hand budget: the lesson's program runs in several small configurations, and a row
// is right when it is right in all of them. A number that fits one run by luck does not pass.
#pragma once

#include "course/run.h"

namespace shardlings {

// Prints row, formula and verdict. Returns ok when every row that the course's own sheet has is
// exact (or, for a learner's sheet, close), else check_failed. Errors: those of read_sheet() and
// evaluate().
ExitCode judge_sheet(const LessonCard& card, const Options& options,
                     const std::function<void(Run&)>& lesson_main);

}  // namespace shardlings
