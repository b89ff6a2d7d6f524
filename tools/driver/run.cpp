#include <algorithm>
#include <cstdlib>

#include "base/check.h"
#include "configured.h"
#include "tools/driver/build.h"
#include "tools/driver/catalogue.h"
#include "tools/driver/command.h"

namespace shardlings {

namespace {

// Takes "name VALUE" out of the options; "" when it is not among them.
std::string take(std::vector<std::string>& options, std::string_view name) {
  const auto found = std::ranges::find(options, name);
  if (found == options.end()) return "";
  if (found + 1 == options.end()) fail(ExitCode::usage, "{}: expected a value, got nothing", name);
  std::string value = *(found + 1);
  options.erase(found, found + 2);
  return value;
}

// Ranks are processes under mpiexec, unless --launcher says threads.
CommandLine command_line(const std::string& program, std::vector<std::string> options) {
  const std::string ranks = take(options, "-n");
  CommandLine command{program};
  if (!ranks.empty()) {
    std::string launcher = take(options, "--launcher");
    if (launcher.empty()) launcher = "mpi";
    if (launcher == "mpi") command = {"mpiexec", "-n", ranks, program};
    command.insert(command.end(), {"--ranks", ranks, "--launcher", launcher});
  }
  command.insert(command.end(), options.begin(), options.end());
  return command;
}

}  // namespace

int run_lesson(Arguments arguments) {
  if (arguments.empty())
    fail(ExitCode::usage, "run needs a lesson, for example: ./shardlings run 01");
  const Lesson& lesson = lesson_named(arguments[0]);
  std::vector<std::string> options(arguments.begin() + 1, arguments.end());
  const bool mine = std::erase(options, "--mine") > 0;
  const std::string target = fmt::format("lesson_{}{}", lesson.id, mine ? "_mine" : "");
  build_target(target, fmt::format("lesson {}", lesson.id));

  // Threads without work spin for some 20 microseconds, then sleep: other programs want the cores
  // too.
  setenv("GOMP_SPINCOUNT", "20000", 0);
  become(command_line(fmt::format("{}/bin/{}", kBuildFolder, target), std::move(options)));
}

}  // namespace shardlings
