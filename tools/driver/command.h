// The commands of ./shardlings. Each is one function in a file of its own and one row of the table
// in main.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace shardlings {

using Arguments = std::span<const std::string>;

struct Command {
  std::string_view name;
  std::string_view arguments;
  std::string_view does;
  int most_arguments;          // more are refused; -1 where they are passed on
  int (*function)(Arguments);  // returns the exit code; throws Error
};

int run_lesson(Arguments arguments);
int check_lesson(Arguments arguments);
int show_hint(Arguments arguments);
int run_drill(Arguments arguments);
int show_solution(Arguments arguments);
int reset_exercise(Arguments arguments);
int show_budget(Arguments arguments);
int show_lesson(Arguments arguments);
int diff_lesson(Arguments arguments);
int go_to(Arguments arguments);
int skip_lesson(Arguments arguments);
int list_lessons(Arguments arguments);
int show_next_step(Arguments arguments);  // also the bare call
int make_text(Arguments arguments);
int make_slides(Arguments arguments);
int run_benchmarks(Arguments arguments);
int run_tests(Arguments arguments);
int report_environment(Arguments arguments);
int refresh_readme(Arguments arguments);

}  // namespace shardlings
