// The lessons, as lessons/catalogue.cmake lists them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace shardlings {

struct Lesson {
  std::string_view id;         // "01"
  std::string_view slug;       // "training_step"
  std::string_view title;      // the one idea
  std::string_view builds_on;  // the id of the lesson that its program extends, or "-"
  bool fast_track;

  std::string name() const;  // "01_training_step": its folder in lessons/, solutions/, runs/
};

// In the order of their numbers.
std::span<const Lesson> lessons();

// The lesson that `text` names: "01", "1", "training_step" or "01_training_step".
// Errors: Error(usage) that shows the nearest name.
const Lesson& lesson_named(std::string_view text);

// Whether the lesson's program has left a report in runs/.
bool has_run(const Lesson& lesson);

}  // namespace shardlings
