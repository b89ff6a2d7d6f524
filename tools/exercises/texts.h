// The texts that go with an exercise, written in Markdown: hints and drills.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace shardlings {

// lessons/NN_slug/hints.md: three levels for each step, from a question to look at to nearly there.
//
//   # Hints for exercise 10
//
//   ## 10.1
//
//   1. A paragraph,
//      over several lines where needed.
//   2. ...
//   3. ...
struct Hints {
  std::string step;                   // "10.1"
  std::array<std::string, 3> levels;  // a paragraph each, on one line
};

// In the order of the file.
// Errors: Error(no_input); Error(bad_data) with file and line.
std::vector<Hints> read_hints(const std::filesystem::path& path);

// solutions/NN_slug/drill.md: what a sick run reported, and what may be the matter with it.
//
//   # Drill 10
//
//   <!-- run: name_of_the_fault --steps 60 -->
//
//   The story, as Markdown: what was run, what it printed. Then the choices.
//
//   1. The learning rate is too high.
//   2. ...
//
//   ## Answer: 2
//
//   1. Why it is not this one.
//   2. Why it is.
struct Drill {
  struct Choice {
    std::string text, why;  // a paragraph each, on one line
  };
  std::string run;    // the fault or wrong answer, and the options of the program
  std::string story;  // as in the file
  std::vector<Choice> choices;
  std::size_t answer = 0;  // counts from 1
};

// Errors: as above.
Drill read_drill(const std::filesystem::path& path);

}  // namespace shardlings
