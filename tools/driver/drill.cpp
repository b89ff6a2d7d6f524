#include <cstdio>
#include <iostream>

#include "base/check.h"
#include "base/units.h"
#include "tools/driver/command.h"
#include "tools/driver/lesson_files.h"
#include "tools/driver/progress.h"
#include "tools/exercises/texts.h"

namespace shardlings {

namespace {

// The number of a choice, from the command line or from the terminal; 0 when there is none.
std::size_t answer_to(const Drill& drill, Arguments given) {
  std::string text;
  if (!given.empty()) {
    text = given[0];
  } else {
    fmt::print("\nYour answer (1 to {}): ", drill.choices.size());
    std::fflush(stdout);
    if (!std::getline(std::cin, text)) return fmt::print("\n"), 0;
  }
  const std::int64_t number = parse_integer(text, "your answer");
  if (number < 1 || number > std::ssize(drill.choices))
    fail(ExitCode::usage, "your answer: expected 1 to {}, got {}", drill.choices.size(), number);
  return static_cast<std::size_t>(number);
}

}  // namespace

int run_drill(Arguments arguments) {
  LearnerProgress progress;
  const Lesson& lesson = arguments.empty() ? progress.current() : lesson_named(arguments[0]);
  if (!has_drill(lesson)) {
    fmt::print("Lesson {} has no drill.\n", lesson.id);
    return 0;
  }
  const Drill drill = read_drill(solution_file(lesson, "drill.md"));
  fmt::print("{}\n\n", drill.story);
  for (std::size_t i = 0; i < drill.choices.size(); ++i)
    fmt::print("  {}. {}\n", i + 1, drill.choices[i].text);
  const std::size_t answer =
      answer_to(drill, arguments.subspan(std::min<std::size_t>(1, arguments.size())));
  if (answer == 0) {
    fmt::print("Answer with ./shardlings drill {} NUMBER\n", lesson.id);
    return 0;
  }
  const bool right = answer == drill.answer;
  fmt::print("\n{} {}\n", right ? "Right." : "Not this one.", drill.choices[answer - 1].why);
  if (right) {
    progress.of(lesson).drill = true;
    progress.save();
  }
  return right ? 0 : static_cast<int>(ExitCode::check_failed);
}

}  // namespace shardlings
