#include <filesystem>
#include <vector>

#include "base/atomic_file.h"
#include "base/check.h"
#include "tools/driver/command.h"
#include "tools/driver/lesson_files.h"
#include "tools/driver/progress.h"
#include "tools/exercises/skeleton.h"

namespace shardlings {

namespace {

constexpr const char* kFiles[] = {"budget.toml", "exercise.cpp"};

// .shardlings/backup/NN_slug-1, -2, ...: the first that is not there yet.
std::filesystem::path new_backup_folder(const Lesson& lesson) {
  const std::filesystem::path all = learner_file(".shardlings/backup");
  int number = 1;
  const auto folder = [&] { return all / fmt::format("{}-{}", lesson.name(), number); };
  while (std::filesystem::exists(folder())) ++number;
  make_directory(folder());
  return folder();
}

}  // namespace

// What the learner wrote is kept beside, then both files are made again from the solution.
int reset_exercise(Arguments arguments) {
  LearnerProgress progress;
  const Lesson& lesson = arguments.empty() ? progress.current() : lesson_named(arguments[0]);
  const std::filesystem::path backup = new_backup_folder(lesson);
  for (const char* name : kFiles)
    if (std::filesystem::exists(exercise_file(lesson, name)))
      write_file_atomically(backup / name, content_of(exercise_file(lesson, name)));
  make_directory(exercise_file(lesson, ""));
  for (const char* name : kFiles) {
    const std::filesystem::path solution = solution_file(lesson, name);
    write_file_atomically(exercise_file(lesson, name),
                          skeleton(content_of(solution), shown(solution)));
  }
  LessonState& state = progress.of(lesson);
  state = {.drill = state.drill};  // a diagnosis once made is not forgotten
  progress.save();
  fmt::print("Exercise {} is as it was at first. Your version is kept in {}\n", lesson.id,
             shown(backup));
  return 0;
}

int show_solution(Arguments arguments) {
  std::vector<std::string> words(arguments.begin(), arguments.end());
  const bool spoil = std::erase(words, "--spoil") > 0;
  if (words.size() > 1) fail(ExitCode::usage, "unexpected \"{}\" after solution", words[1]);
  LearnerProgress progress;
  const Lesson& lesson = words.empty() ? progress.current() : lesson_named(words[0]);
  const LessonState& state = progress.of(lesson);
  if (!spoil && !(state.budget && state.code))
    fail(ExitCode::check_failed,
         "exercise {} has not passed yet; ./shardlings solution {} --spoil shows it all the same",
         lesson.id, lesson.id);
  for (const char* name : kFiles) {
    const std::filesystem::path path = solution_file(lesson, name);
    fmt::print("==> {}\n\n{}\n", shown(path), content_of(path));
  }
  return 0;
}

}  // namespace shardlings
