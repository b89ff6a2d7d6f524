// What a learner starts from: a solution with the learner's part cut out.
//
// That part stands between markers, in C++ and in a budget sheet:
//
//   // [exercise 10.1] the task, in one line           // 10.1: the task, in one line
//   // | a line that helps                       ->    // a line that helps
//   code that the learner never sees                   todo("10.1");
//   // [end]
//
//   # [exercise] the task, in one line                 # the task, in one line
//   # | a line that helps                        ->    # a line that helps
//   # a comment that the learner never sees
//   gradients = "g * P"                                gradients = "?"
//   # [end]
//
// The steps of lesson 10 are 10.1, 10.2, ... in this order. All other lines stay as they are.
#pragma once

#include <string>
#include <string_view>

namespace shardlings {

// The file that the learner gets. `file` is the solution's path from the repository's root, such as
// "solutions/10_data_parallel/exercise.cpp": it tells C++ from a sheet, is named in the first
// lines, and stands in messages.
// Errors: Error(bad_data) with file:line for markers that do not match, steps out of order, a
// missing task, help in the wrong place, nothing to cut.
std::string skeleton(std::string_view solution, const std::string& file);

// The C++ solution with this one step cut out.
// Errors: those of skeleton(); Error(usage) when there is no such step.
std::string without_step(std::string_view solution, const std::string& file, std::string_view step);

}  // namespace shardlings
