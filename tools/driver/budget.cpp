#include "base/check.h"
#include "configured.h"
#include "tools/driver/build.h"
#include "tools/driver/command.h"
#include "tools/driver/lesson_files.h"

namespace shardlings {

int show_budget(Arguments arguments) {
  if (arguments.empty())
    fail(ExitCode::usage, "budget needs a lesson, for example: budget 01 --model gpt3-175b");
  const Lesson& lesson = lesson_named(arguments[0]);
  build_target("budget", "budget");
  CommandLine command{fmt::format("{}/bin/budget", kBuildFolder),
                      exercise_file(lesson, "budget.toml").string()};
  command.insert(command.end(), arguments.begin() + 1, arguments.end());
  become(command);
}

}  // namespace shardlings
