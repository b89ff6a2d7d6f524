// How a failing check speaks, and that every end of an answer's run is told.
#include "tests/support/judge.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <sstream>

#include "base/todo.h"
#include "tests/driver/shell.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

Exam exam_of(std::function<void(Judge&)> function) {
  return {.name = "exercise 10",
          .hint = "./shardlings hint 10",
          .again = "./shardlings check 10",
          .checks = {{"10.1", "one is one", [](Judge&) {}}, {"10.2", "two is two", function}}};
}

// What run() prints in a process of its own, and the exit code of that.
Outcome outcome_of(const std::function<void(Judge&)>& function) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    const int code = run(exam_of(function));
    std::fflush(stdout);
    ::_exit(code);
  }
  ::close(ends[1]);
  Outcome outcome{.code = 0, .output = ""};
  for (char c; ::read(ends[0], &c, 1) == 1;) outcome.output += c;
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

const std::string kAfter = "  hint      ./shardlings hint 10\n  again     ./shardlings check 10\n";

// `text` without its line "judged at", which has to name a line of this file.
std::string without_place(std::string text) {
  const std::size_t begin = text.find("  judged at tests/exercises/judge_test.cpp:");
  REQUIRE(begin != text.npos);
  return text.erase(begin, text.find('\n', begin) + 1 - begin);
}

// Calls itself until the stack is used up; the compiler must not see it.
int recurse(int depth) {
  static int (*volatile again)(int) = recurse;
  return 1 + again(depth + 1);
}

}  // namespace

TEST_CASE("a right answer is one line") {
  const Outcome outcome = outcome_of([](Judge& judge) { judge.equal("two", 2, 2, 0); });
  CHECK(outcome.output == "passed: 2 checks of exercise 10\n");
  CHECK(outcome.code == 0);
}

TEST_CASE("what is not written yet is one line, with its step") {
  const Outcome outcome = outcome_of([](Judge&) { todo("10.2"); });
  CHECK(outcome.output == "not written yet: 10.2\n");
  CHECK(outcome.code == 1);
}

TEST_CASE("a wrong answer is told with all there is to say, and nothing else") {
  const Outcome outcome = outcome_of([](Judge& judge) {
    judge.now("two ranks, f64");
    judge.equal("gradient", {{"w", {1, 4}}}, {{"w", {0.5, 2}}}, 1e-9, 0, {.letters = {{"n", 2}}});
  });
  CHECK(without_place(outcome.output) ==
        "wrong: 10.2: two is two\n"
        "  case      two ranks, f64\n"
        "  compared  gradient of w, element 1\n"
        "  expected  2\n"
        "  measured  4\n"
        "  ratio     2 = n\n"
        "  suggests  added up over ranks that each hold all of it\n" +
            kAfter);
  CHECK(outcome.code == 1);
}

TEST_CASE("more elements, or fewer, are wrong whatever they are") {
  for (const std::vector<double>& values : {std::vector<double>{0.5, 2, 7}, {0.5}, {}}) {
    const Outcome outcome = outcome_of([&](Judge& judge) {
      judge.equal("o", {{"", values}}, {{"", {0.5, 2}}}, 1, 1);
    });
    CHECK(without_place(outcome.output) ==
          "wrong: 10.2: two is two\n"
          "  compared  how many elements o has\n"
          "  expected  2\n"
          "  measured  " +
              std::to_string(values.size()) + "\n" + kAfter);
    CHECK(outcome.code == 1);
  }
}

TEST_CASE("tolerances are relative, and NaN is never within them") {
  const auto passes = [](double measured, double expected, double tolerance) {
    return outcome_of([&](Judge& judge) {
             judge.equal("x", measured, expected, tolerance);
           }).code == 0;
  };
  CHECK(passes(1000.9, 1000, 1e-3));
  CHECK_FALSE(passes(1001.1, 1000, 1e-3));
  CHECK(passes(0, 0, 0));
  CHECK_FALSE(passes(std::nan(""), 1, 1));
}

TEST_CASE("an error is told in its own words") {
  const Outcome outcome = outcome_of([](Judge& judge) {
    judge.now("two ranks");
    throw std::runtime_error("linear: 3 x 4 by 5 x 6");
  });
  CHECK(without_place(outcome.output) ==
        "wrong: 10.2: two is two\n"
        "  case      two ranks\n"
        "  expected  an answer\n"
        "  measured  the error \"linear: 3 x 4 by 5 x 6\"\n" +
            kAfter);
  CHECK(outcome.code == 1);
}

TEST_CASE("a crash is told") {
  const auto told = [](const std::function<void(Judge&)>& function) {
    const Outcome outcome = outcome_of(function);
    CHECK(outcome.code == 1);
    CHECK(outcome.output.starts_with("wrong: 10.2: two is two\n"));
    CHECK(outcome.output.ends_with(kAfter));
    const std::size_t measured = outcome.output.find("  measured  ") + 12;
    return outcome.output.substr(measured, outcome.output.find('\n', measured) - measured);
  };
  CHECK(told([](Judge&) { std::raise(SIGSEGV); }) == "the program crashed");
  CHECK(told([](Judge&) { recurse(0); }) == "the program crashed");
  CHECK(told([](Judge&) { std::raise(SIGFPE); }) == "the program crashed");
  CHECK(told([](Judge&) { std::abort(); }) == "the program gave up");
  CHECK(told([](Judge&) { std::raise(SIGALRM); }) == "none after 5 seconds");
}

TEST_CASE("fifteen lines of a hundred columns hold the longest message") {
  std::string words;
  while (words.size() < 2000) words += "words\nof the learner ";
  const Exam exam = exam_of([](Judge&) {});
  const std::string message = speak(exam, exam.checks[1], words,
                                    {.quantity = words,
                                     .expected = words,
                                     .measured = words,
                                     .ratio = words,
                                     .suggests = words,
                                     .where = std::source_location::current()});
  const std::vector<std::string> lines = lines_of(message);
  CHECK(lines.size() <= 15);
  for (const std::string& line : lines) CHECK(line.size() <= 100);
}
