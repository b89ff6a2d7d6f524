// ./shardlings: the course's driver. The script of that name builds this program and becomes it.
#include <algorithm>
#include <vector>

#include "base/check.h"
#include "base/suggest.h"
#include "tools/driver/command.h"

namespace shardlings {

namespace {

constexpr Command kCommands[] = {
    {"run", "NN [-n RANKS] [--mine] [options]",
     "build and run a lesson; run NN --help lists its options", -1, run_lesson},
    {"check", "[NN]", "judge your budget, then your code, then ask for the drill", 1, check_lesson},
    {"hint", "[NN]", "one hint more, three in all", 1, show_hint},
    {"drill", "[NN] [ANSWER]", "a sick run to diagnose", 2, run_drill},
    {"solution", "[NN] [--spoil]", "the course's answer, once yours has passed", 2, show_solution},
    {"reset", "[NN]", "start the exercise again; your version is kept", 1, reset_exercise},
    {"budget", "NN [--model NAME] [--LETTER N]", "your formulas at any scale, without a run", -1,
     show_budget},
    {"show", "[NN]", "the program and its headers, in reading order", 1, show_lesson},
    {"diff", "[NN]", "what the program adds to the lesson it builds on", 1, diff_lesson},
    {"next", "", "where you are, and what to do next", 0, show_next_step},
    {"goto", "NN", "work on this lesson", 1, go_to},
    {"skip", "[NN]", "leave this lesson for later", 1, skip_lesson},
    {"list", "", "the lessons, and how far you are", 0, list_lessons},
    {"text", "NAME [FILE]", "put a real text under data/, to train on", 2, make_text},
    {"slides", "", "build the slides of all lessons", 0, make_slides},
    {"bench", "[steps|ops|peers] [--save NAME]", "how fast it is here, against what is possible", 3,
     run_benchmarks},
    {"test", "[--slow] [ctest options]", "build everything and run the test suite", -1, run_tests},
    {"doctor", "", "this environment, to paste into a report", 0, report_environment},
    {"readme", "[--check] [FILE]", "renew the tables in README.md and the lesson texts", 2,
     refresh_readme},
};

void show_help() {
  fmt::print(
      "usage: ./shardlings [--yes | --skip-packages] [command]\n\n"
      "  {:40}where you are, and what to do next\n",
      "(no command)");
  for (const Command& command : kCommands)
    fmt::print("  {:40}{}\n", fmt::format("{} {}", command.name, command.arguments), command.does);
  fmt::print(
      "\n"
      "  {:40}install missing packages without asking\n"
      "  {:40}do not look at packages\n",
      "--yes", "--skip-packages");
}

const Command& command_named(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Command& command : kCommands) {
    if (command.name == name) return command;
    names.push_back(command.name);
  }
  const std::string suggestion = nearest(name, names);
  fail(ExitCode::usage, "there is no command \"{}\"; {}", name,
       suggestion.empty() ? "./shardlings --help lists those there are"
                          : "did you mean " + suggestion + "?");
}

int run_command(Arguments words) {
  if (words.empty()) return show_next_step(words);
  if (words[0] == "--help" || words[0] == "-h") return show_help(), 0;
  const Command& command = command_named(words[0]);
  const Arguments arguments = words.subspan(1);
  if (!arguments.empty() && arguments[0] == "--help") {
    fmt::print("./shardlings {} {}\n  {}\n", command.name, command.arguments, command.does);
    return 0;
  }
  if (command.most_arguments >= 0 && std::ssize(arguments) > command.most_arguments)
    fail(ExitCode::usage, "unexpected \"{}\" after {}", arguments[command.most_arguments],
         command.name);
  return command.function(arguments);
}

}  // namespace

}  // namespace shardlings

int main(int count, char** words) {
  try {
    return shardlings::run_command(std::vector<std::string>(words + 1, words + count));
  } catch (const shardlings::Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return static_cast<int>(shardlings::ExitCode::broken);
  }
}
