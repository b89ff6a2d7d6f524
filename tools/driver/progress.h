// How far the learner is: .shardlings/progress.json, keyed by the lesson's slug, so that it
// survives lessons being added or renumbered.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "tools/driver/catalogue.h"

namespace shardlings {

struct LessonState {
  bool budget = false, code = false, drill = false;  // passed
  bool skipped = false;
  std::size_t hints = 0;  // seen
};

class LearnerProgress {
 public:
  // What is on disk; a fresh start when there is nothing, or nothing that can be read.
  LearnerProgress();

  // The lesson to work on: the one chosen with goto, else the first that is neither done nor
  // skipped, else the last.
  const Lesson& current() const;
  void choose(const Lesson& lesson);

  LessonState& of(const Lesson& lesson) { return states_[std::string(lesson.slug)]; }
  bool is_done(const Lesson& lesson) const;
  bool all_done() const;

  // Errors: none. A directory that cannot be written costs the memory of the progress, not the
  // command: that is said in one line.
  void save() const;

 private:
  std::map<std::string, LessonState> states_;
  std::string chosen_;  // a slug; "" for none
};

}  // namespace shardlings
