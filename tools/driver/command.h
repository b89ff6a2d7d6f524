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
int make_text(Arguments arguments);
int run_tests(Arguments arguments);
int list_lessons(Arguments arguments);
int report_environment(Arguments arguments);
int refresh_readme(Arguments arguments);

// The bare call: where the learner is, and what to do next.
int show_next_step();

}  // namespace shardlings
