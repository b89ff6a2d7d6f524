// Where a lesson's files are.
#pragma once

#include <filesystem>

#include "tools/driver/catalogue.h"

namespace shardlings {

// What the learner writes: exercises/, notes/, .shardlings/. In the repository, or in the folder
// that the environment's SHARDLINGS_LEARNER names.
std::filesystem::path learner_file(const std::filesystem::path& name);

std::filesystem::path lesson_file(const Lesson& lesson, const char* name);    // lessons/NN_slug/
std::filesystem::path exercise_file(const Lesson& lesson, const char* name);  // exercises/NN_slug/
std::filesystem::path solution_file(const Lesson& lesson, const char* name);  // solutions/NN_slug/

bool has_drill(const Lesson& lesson);

// Relative to the root of the repository, as messages name files.
std::string shown(const std::filesystem::path& path);

// Errors: Error(no_input).
std::string content_of(const std::filesystem::path& path);

}  // namespace shardlings
