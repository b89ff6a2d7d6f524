#include "course/frame.h"

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <new>
#include <string>
#include <vector>

#include "course/report.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

const LessonCard kCard{.number = 1, .slug = "training_step", .title = "One transformer"};

struct Ended {
  int code = 0;
  std::string out, error;
};

std::string content(std::FILE* file) {
  std::rewind(file);
  std::string text;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

// Runs a program in a child process: its signal handlers and its output stay there. The program's
// standard output goes to the file `output` when one is named.
Ended run(LessonMain lesson, std::vector<const char*> arguments = {},
          const char* output = nullptr) {
  arguments.insert(arguments.begin(), "lesson");
  std::FILE* out = output == nullptr ? std::tmpfile() : std::fopen(output, "r+");
  std::FILE* error = std::tmpfile();
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::fileno(out), 1);
    ::dup2(::fileno(error), 2);
    ::_exit(run_main(static_cast<int>(arguments.size()), arguments.data(), kCard, lesson));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, output == nullptr ? content(out) : "",
          content(error)};
}

}  // namespace

TEST_CASE("a lesson gets its options, and its code is the program's") {
  const auto lesson = [](const Options& options) {
    return options.steps == 7 ? ExitCode::ok : ExitCode::check_failed;
  };
  CHECK(run(lesson, {"--steps", "7"}).code == 0);
  const Ended ended = run(lesson, {"--steps", "8"});
  CHECK(ended.code == 1);
  CHECK(ended.error == "");
}

TEST_CASE("help is printed instead of a run") {
  const Ended ended =
      run([](const Options&) -> ExitCode { fail(ExitCode::broken, "must not run"); }, {"--help"});
  CHECK(ended.code == 0);
  CHECK(ended.out == help_text(kCard));
}

TEST_CASE("an error ends as one line and its code") {
  const Ended usage = run([](const Options&) { return ExitCode::ok; }, {"--stpes=3"});
  CHECK(usage.code == 64);
  CHECK(usage.error == "error: unknown option \"--stpes\"; did you mean --steps?\n");

  const Ended no_input =
      run([](const Options&) -> ExitCode { fail(ExitCode::no_input, "no text at {}", "x"); });
  CHECK(no_input.code == 66);
  CHECK(no_input.error == "error: no text at x\n");

  const Ended memory = run([](const Options&) -> ExitCode { throw std::bad_alloc(); });
  CHECK(memory.code == 75);
  CHECK(memory.error ==
        "error: the memory of this machine is used up; a smaller --model or --batch needs less\n");

  const Ended files = run([](const Options&) -> ExitCode {
    std::filesystem::create_directory("/dev/null/x");
    return ExitCode::ok;
  });
  CHECK(files.code == 74);

  const Ended other = run([](const Options&) -> ExitCode { throw std::logic_error("odd"); });
  CHECK(other.code == 70);
  CHECK(other.error == "error: odd\n");
}

TEST_CASE("of several ranks, the one that failed is named") {
  try {
    fail(ExitCode::broken, "the loss is not a number");
  } catch (...) {
    const Failure failure = current_failure(2, 4);
    CHECK(failure.line == "rank 2: the loss is not a number");
    CHECK(failure.code == ExitCode::broken);
  }
}

TEST_CASE("output that cannot be written is an error, even when it is the last word") {
  const Ended ended = run(
      [](const Options&) {
        std::fputs("words", stdout);
        return ExitCode::ok;
      },
      {}, "/dev/full");
  CHECK(ended.code == 74);
  CHECK(ended.error == "error: cannot write the output: No space left on device\n");
}

TEST_CASE("a failing check fails the program") {
  const Ended ended = run([](const Options&) {
    Report report;
    report.lesson = "01_training_step";
    check_at_most(report, "loss against the bigram line", 2.4, 2.31);
    write_text(stdout, summary_line(report, "runs/report.json", {}) + '\n');
    return exit_code(report);
  });
  CHECK(ended.code == 1);
  CHECK(ended.out == "lesson 01 training_step: 1 check FAILED · report runs/report.json\n");
}
