#include <cstdlib>

#include "base/check.h"
#include "configured.h"
#include "tools/driver/build.h"
#include "tools/driver/catalogue.h"
#include "tools/driver/command.h"

namespace shardlings {

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
  CommandLine command{fmt::format("{}/bin/{}", kBuildFolder, target)};
  command.insert(command.end(), options.begin(), options.end());
  become(command);
}

}  // namespace shardlings
