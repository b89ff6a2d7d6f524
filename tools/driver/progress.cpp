#include "tools/driver/progress.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/check.h"
#include "tools/driver/lesson_files.h"

namespace shardlings {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(LessonState, budget, code, drill, skipped, hints)

namespace {

std::filesystem::path progress_file() {
  return learner_file(".shardlings/progress.json");
}

}  // namespace

LearnerProgress::LearnerProgress() {
  const auto json = nlohmann::json::parse(std::ifstream(progress_file()), nullptr, false);
  if (!json.is_object()) return;
  try {
    states_ = json.value("lessons", states_);
    chosen_ = json.value("chosen", chosen_);
  } catch (const nlohmann::json::exception&) {
    states_.clear();  // somebody edited it: better a fresh start than half of one
    chosen_.clear();
  }
}

bool LearnerProgress::is_done(const Lesson& lesson) const {
  const auto found = states_.find(std::string(lesson.slug));
  if (found == states_.end()) return false;
  const LessonState& state = found->second;
  return state.budget && state.code && (state.drill || !has_drill(lesson));
}

bool LearnerProgress::all_done() const {
  return std::ranges::all_of(lessons(), [&](const Lesson& lesson) { return is_done(lesson); });
}

const Lesson& LearnerProgress::current() const {
  for (const Lesson& lesson : lessons())
    if (lesson.slug == chosen_ && !is_done(lesson)) return lesson;
  for (const Lesson& lesson : lessons()) {
    const auto found = states_.find(std::string(lesson.slug));
    const bool skipped = found != states_.end() && found->second.skipped;
    if (!is_done(lesson) && !skipped) return lesson;
  }
  return lessons().back();
}

void LearnerProgress::choose(const Lesson& lesson) {
  chosen_ = lesson.slug;
  of(lesson).skipped = false;
}

void LearnerProgress::save() const {
  try {
    make_directory(progress_file().parent_path());
    const nlohmann::json json{{"chosen", chosen_}, {"lessons", states_}};
    write_file_atomically(progress_file(), json.dump(2) + "\n");
  } catch (const Error& error) {
    fmt::print(stderr, "note: your progress is not remembered: {}\n", error.what());
  }
}

}  // namespace shardlings
