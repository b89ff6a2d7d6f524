#include <unistd.h>

#include <algorithm>
#include <regex>

#include "base/check.h"
#include "configured.h"
#include "tools/driver/command.h"
#include "tools/driver/lesson_files.h"
#include "tools/driver/process.h"
#include "tools/driver/progress.h"

namespace shardlings {

namespace {

const Lesson& lesson_or_current(Arguments arguments) {
  return arguments.empty() ? LearnerProgress().current() : lesson_named(arguments[0]);
}

// The lesson's own files in the order in which the text names them; then the headers that it does
// not name, and main.cpp.
std::vector<std::string> reading_order(const Lesson& lesson) {
  std::vector<std::string> files;
  const auto add = [&](const std::string& name) {
    const bool there = std::filesystem::exists(lesson_file(lesson, name.c_str()));
    if (there && std::ranges::find(files, name) == files.end()) files.push_back(name);
  };
  const std::string text = content_of(lesson_file(lesson, "README.md"));
  const std::regex file_name("`([a-z0-9_]+\\.(?:h|cpp))`");
  for (std::sregex_iterator match(text.begin(), text.end(), file_name), end; match != end; ++match)
    if ((*match)[1] != "main.cpp") add((*match)[1]);
  for (const auto& entry : std::filesystem::directory_iterator(lesson_file(lesson, "")))
    if (entry.path().extension() == ".h") add(entry.path().filename());
  add("main.cpp");
  return files;
}

}  // namespace

// In a pager on a terminal, one after the other elsewhere.
int show_lesson(Arguments arguments) {
  const Lesson& lesson = lesson_or_current(arguments);
  const bool pager = isatty(STDOUT_FILENO) == 1;
  CommandLine less{"less", "-R"};
  for (const std::string& name : reading_order(lesson)) {
    const std::filesystem::path path = lesson_file(lesson, name.c_str());
    less.push_back(path.string());
    if (!pager) fmt::print("==> {}\n\n{}\n", shown(path), content_of(path));
  }
  return pager ? run(less) : 0;
}

// What the program adds to that of the lesson it builds on.
int diff_lesson(Arguments arguments) {
  const Lesson& lesson = lesson_or_current(arguments);
  if (lesson.builds_on == "-") {
    fmt::print("Lesson {} builds on no other: ./shardlings show {}\n", lesson.id, lesson.id);
    return 0;
  }
  const Lesson& before = lesson_named(lesson.builds_on);
  const int status =
      run({"git", "-C", kSourceFolder, "diff", "--no-index", shown(lesson_file(before, "main.cpp")),
           shown(lesson_file(lesson, "main.cpp"))});
  return status == 1 ? 0 : status;  // 1: they differ
}

int go_to(Arguments arguments) {
  if (arguments.empty()) fail(ExitCode::usage, "goto needs a lesson, for example: goto 01");
  LearnerProgress progress;
  progress.choose(lesson_named(arguments[0]));
  progress.save();
  return show_next_step({});
}

int skip_lesson(Arguments arguments) {
  LearnerProgress progress;
  const Lesson& lesson = arguments.empty() ? progress.current() : lesson_named(arguments[0]);
  progress.of(lesson).skipped = true;
  progress.save();
  fmt::print("Lesson {} is skipped; ./shardlings goto {} comes back to it.\n\n", lesson.id,
             lesson.id);
  return show_next_step({});
}

}  // namespace shardlings
