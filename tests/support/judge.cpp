#include "tests/support/judge.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <tuple>

#include "base/todo.h"
#include "course/text.h"

namespace shardlings {

namespace {

struct Rejected {
  Finding finding;
};

// ---- answers that do not come back ----

struct Ending {
  int signal;
  const char* measured;
  const char* suggests;
  std::string message = {};  // ready before it happens: a signal handler may not allocate
};

Ending endings[] = {
    {SIGALRM, "none after 5 seconds",
     "a loop that does not end, or ranks that wait for each other"},
    {SIGSEGV, "the program crashed",
     "memory was touched that is not the program's: an index past an end, or a tensor's elements "
     "read by the host where they lie on the device"},
    {SIGFPE, "the program crashed", "a whole number was divided by zero"},
    {SIGABRT, "the program gave up", ""},
};

extern "C" void give_up(int signal) {
  for (const Ending& ending : endings)
    if (ending.signal == signal)
      std::ignore = ::write(STDOUT_FILENO, ending.message.data(), ending.message.size());
  ::_exit(static_cast<int>(ExitCode::check_failed));
}

void handle_signals() {
  // A recursion without end has used up the program's stack: the handler has its own.
  static std::array<char, 65536> stack;
  const stack_t other{.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
  ::sigaltstack(&other, nullptr);
  struct sigaction action {};
  action.sa_handler = give_up;
  action.sa_flags = SA_ONSTACK;
  for (const Ending& ending : endings) ::sigaction(ending.signal, &action, nullptr);
}

// ---- how a finding is said ----

constexpr std::int64_t kWidth = 100, kLabel = 12;

// At most so many lines: with the most of every field, speak() comes to 14.
std::string field(const std::string& label, std::string text, std::size_t most = 1) {
  if (text.empty()) return "";
  std::ranges::replace(text, '\n', ' ');
  std::vector<std::string> lines = wrap(text, kWidth - kLabel);
  if (lines.size() > most) {
    lines.resize(most);
    lines.back() = std::string(prefix_of_width(lines.back(), kWidth - kLabel - 4)) + " ...";
  }
  std::string result;
  for (const std::string& line : lines)
    result += pad_right(&line == &lines.front() ? "  " + label : "", kLabel) + line + "\n";
  return result;
}

// "tests/exercises/01_training_step.cpp:87"
std::string place(const std::source_location& where) {
  const std::filesystem::path file(where.file_name());
  return fmt::format(
      "{}:{}", file.is_absolute() ? file.lexically_relative(SOURCE_FOLDER).string() : file.string(),
      where.line());
}

std::string digits(double value) {
  return fmt::format("{:.10g}", value);
}

Finding no_answer(const std::string& measured, const std::string& suggests,
                  const std::source_location& where) {
  return {.expected = "an answer", .measured = measured, .suggests = suggests, .where = where};
}

}  // namespace

void Judge::now(std::string situation, Where where) {
  situation_ = std::move(situation);
  where_ = where;
  for (Ending& ending : endings)
    ending.message =
        speak(exam_, check_, situation_, no_answer(ending.measured, ending.suggests, where));
  ::alarm(5);
}

void Judge::holds(bool condition, Finding finding, Where where) const {
  finding.where = where;
  if (!condition) throw Rejected{std::move(finding)};
}

void Judge::equal(const std::string& quantity, const NamedValues& measured,
                  const NamedValues& expected, double tolerance, double floor, const Clues& clues,
                  Where where) const {
  for (const auto& [name, values] : expected)
    holds(measured.at(name).size() == values.size(),
          {.quantity = fmt::format("how many elements {} has", name.empty() ? quantity : name),
           .expected = std::to_string(values.size()),
           .measured = std::to_string(measured.at(name).size())},
          where);
  const std::optional<Mismatch> worst = worst_mismatch(measured, expected, tolerance, floor);
  if (!worst) return;
  const auto [ratio, suggests] = likeness(measured, expected, clues);
  const std::string element =
      worst->name.empty() ? "" : fmt::format(" of {}, element {}", worst->name, worst->index);
  holds(false,
        {.quantity = quantity + element,
         .expected = digits(worst->expected),
         .measured = digits(worst->got),
         .ratio = ratio,
         .suggests = suggests},
        where);
}

void Judge::equal(const std::string& quantity, double measured, double expected, double tolerance,
                  const Clues& clues, Where where) const {
  equal(quantity, NamedValues{{"", {measured}}}, NamedValues{{"", {expected}}}, tolerance, 0, clues,
        where);
}

std::string speak(const Exam& exam, const Check& check, const std::string& situation,
                  const Finding& finding) {
  return fmt::format("wrong: {}: {}\n", check.step, check.claim) + field("case", situation, 2) +
         field("compared", finding.quantity) + field("expected", finding.expected) +
         field("measured", finding.measured, 2) + field("ratio", finding.ratio) +
         field("suggests", finding.suggests, 3) + field("judged at", place(finding.where)) +
         field("hint", exam.hint) + field("again", exam.again);
}

int run(const Exam& exam) {
  handle_signals();
  for (const Check& check : exam.checks) {
    Judge judge(exam, check);
    judge.now("");
    std::string message;
    try {
      check.function(judge);
      continue;
    } catch (const NotWritten& error) {
      message = fmt::format("{}\n", error.what());
    } catch (const Rejected& rejected) {
      message = speak(exam, check, judge.situation(), rejected.finding);
    } catch (const std::exception& error) {
      message = speak(exam, check, judge.situation(),
                      no_answer(fmt::format("the error \"{}\"", error.what()), "", judge.where()));
    }
    fmt::print("{}", message);
    return static_cast<int>(ExitCode::check_failed);
  }
  fmt::print("passed: {} checks of {}\n", exam.checks.size(), exam.name);
  return 0;
}

}  // namespace shardlings
