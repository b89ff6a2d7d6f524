#include <algorithm>

#include "base/check.h"
#include "tools/driver/catalogue.h"
#include "tools/driver/command.h"

namespace shardlings {

int list_lessons(Arguments) {
  for (const Lesson& lesson : lessons())
    fmt::print("{} {} {:24} {:50} {}\n", lesson.id, lesson.fast_track ? '*' : ' ', lesson.slug,
               lesson.title, has_run(lesson) ? "run" : "not run yet");
  fmt::print("\n* the fast track\n");
  return 0;
}

int show_next_step() {
  const auto next = std::ranges::find_if_not(lessons(), has_run);
  if (next == lessons().end()) {
    fmt::print(
        "You have run every lesson that there is. Train the last one on a real text:\n\n"
        "  ./shardlings text kjv\n"
        "  ./shardlings run {} --text data/kjv.txt\n",
        lessons().back().id);
  } else {
    fmt::print(
        "Next is lesson {}: {}.\n\n"
        "  read   lessons/{}/main.cpp\n"
        "  run    ./shardlings run {}\n",
        next->id, next->title, next->name(), next->id);
  }
  fmt::print("\nAll commands: ./shardlings --help\n");
  return 0;
}

}  // namespace shardlings
