#include "base/check.h"
#include "base/units.h"
#include "tools/driver/command.h"
#include "tools/driver/lesson_files.h"
#include "tools/driver/progress.h"
#include "tools/exercises/texts.h"

namespace shardlings {

// One hint more at each call: the first of each step, then the second, then the third.
int show_hint(Arguments arguments) {
  LearnerProgress progress;
  const Lesson& lesson = arguments.empty() ? progress.current() : lesson_named(arguments[0]);
  const std::vector<Hints> all = read_hints(lesson_file(lesson, "hints.md"));
  std::size_t& seen = progress.of(lesson).hints;
  const std::size_t levels = all.front().levels.size();
  seen = std::min(seen + 1, levels);
  fmt::print("Hint {} of {} for lesson {}\n", seen, levels, lesson.id);
  for (const Hints& step : all) fmt::print("\n{}  {}\n", step.step, step.levels[seen - 1]);
  if (seen < levels)
    fmt::print("\nMore: ./shardlings hint {}\n", lesson.id);
  else
    fmt::print("\nThat was the last. The answer, if need be: ./shardlings solution {} --spoil\n",
               lesson.id);
  progress.save();
  return 0;
}

}  // namespace shardlings
