#include <filesystem>

#include "base/atomic_file.h"
#include "base/check.h"
#include "configured.h"
#include "tools/driver/build.h"
#include "tools/driver/command.h"
#include "tools/driver/lesson_files.h"
#include "tools/driver/progress.h"

namespace shardlings {

namespace {

constexpr int kFailed = static_cast<int>(ExitCode::check_failed);

// Each builds what it needs, lets it speak, and returns its exit code.

int check_budget(const Lesson& lesson) {
  const std::string target = fmt::format("lesson_{}", lesson.id);
  build_target(target, fmt::format("lesson {}", lesson.id));
  const std::string sheet = exercise_file(lesson, "budget.toml");
  const int status =
      run({fmt::format("{}/bin/{}", kBuildFolder, target), "--judge", "sheet", "--sheet", sheet});
  if (status == kFailed)
    fmt::print(
        "\nThe budget comes first: {}\n"
        "Write or mend a row, then ./shardlings check {} again.\n",
        shown(exercise_file(lesson, "budget.toml")), lesson.id);
  return status;
}

int check_code(const Lesson& lesson) {
  const std::string target = fmt::format("check_{}", lesson.id);
  build_target(target, fmt::format("your exercise {}", lesson.id));
  const int status = run({fmt::format("{}/bin/{}", kBuildFolder, target)});
  if (status == kFailed)
    fmt::print("\nYour code: {}\nA hint: ./shardlings hint\n",
               shown(exercise_file(lesson, "exercise.cpp")));
  return status;
}

// The page for the learner's own words. It is made once and never touched again.
void make_note(const Lesson& lesson) {
  const std::filesystem::path path = learner_file(fmt::format("notes/{}.md", lesson.id));
  if (std::filesystem::exists(path)) return;
  make_directory(path.parent_path());
  write_file_atomically(path, fmt::format("# Lesson {}: {}\n\n"
                                          "## Three ideas\n\n1.\n2.\n3.\n\n"
                                          "## One open question\n\n\n"
                                          "## The failure mode, explained to somebody else\n\n",
                                          lesson.id, lesson.title));
  fmt::print("Close the page and write down what you remember: {}\n", shown(path));
}

}  // namespace

int check_lesson(Arguments arguments) {
  LearnerProgress progress;
  const Lesson& lesson = arguments.empty() ? progress.current() : lesson_named(arguments[0]);
  LessonState& state = progress.of(lesson);

  const int budget = check_budget(lesson);
  state.budget = budget == 0;
  progress.save();
  if (budget != 0) return budget;

  fmt::print("\n");
  const int code = check_code(lesson);
  state.code = code == 0;
  progress.save();
  if (code != 0) return code;

  fmt::print("\n");
  make_note(lesson);
  if (has_drill(lesson) && !state.drill) {
    fmt::print("One thing is left, a sick run to diagnose: ./shardlings drill {}\n", lesson.id);
    return kFailed;
  }
  fmt::print("Lesson {} is done. What is next: ./shardlings next\n", lesson.id);
  return 0;
}

}  // namespace shardlings
