#include "base/check.h"
#include "tools/driver/command.h"
#include "tools/driver/lesson_files.h"
#include "tools/driver/progress.h"

namespace shardlings {

namespace {

std::string state_of(LearnerProgress& progress, const Lesson& lesson) {
  if (progress.is_done(lesson)) return "done";
  const LessonState& state = progress.of(lesson);
  if (state.code) return "drill is next";
  if (state.budget) return "code is next";
  if (state.skipped) return "skipped";
  return has_run(lesson) ? "budget is next" : "not run yet";
}

}  // namespace

int list_lessons(Arguments) {
  LearnerProgress progress;
  for (const Lesson& lesson : lessons())
    fmt::print("{} {} {:24} {:50} {}\n", lesson.id, lesson.fast_track ? '*' : ' ', lesson.slug,
               lesson.title, state_of(progress, lesson));
  fmt::print("\n* the fast track\n");
  return 0;
}

int show_next_step(Arguments) {
  LearnerProgress progress;
  const Lesson& lesson = progress.current();
  if (progress.all_done()) {
    fmt::print(
        "You have finished every lesson that there is. Train the last one on a real text:\n\n"
        "  ./shardlings text kjv\n"
        "  ./shardlings run {} --text data/kjv.txt\n",
        lesson.id);
  } else {
    fmt::print("Lesson {}: {}.\n\n", lesson.id, lesson.title);
    const LessonState& state = progress.of(lesson);
    const auto line = [](bool done, const char* what, const std::string& how) {
      fmt::print("  [{}] {:8}{}\n", done ? 'x' : ' ', what, how);
    };
    line(has_run(lesson), "run", fmt::format("./shardlings run {}", lesson.id));
    fmt::print("   -  {:8}{}\n", "read", shown(lesson_file(lesson, "README.md")));
    line(state.budget, "budget", shown(exercise_file(lesson, "budget.toml")));
    line(state.code, "code", shown(exercise_file(lesson, "exercise.cpp")));
    if (has_drill(lesson))
      line(state.drill, "drill", fmt::format("./shardlings drill {}", lesson.id));
    fmt::print("\nJudge budget, code and drill: ./shardlings check\n");
  }
  fmt::print("All commands: ./shardlings --help\n");
  return 0;
}

}  // namespace shardlings
