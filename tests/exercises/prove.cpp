// One proof that an exercise is judged rightly, by running the program of an answer:
//
//   prove_exercise passes PROGRAM         it passes
//   prove_exercise stops_at STEP PROGRAM  it says that this step is not written, and nothing else
//   prove_exercise rejects FILE PROGRAM   it is wrong, in a message as judge.h promises, for the
//                                         reason in FILE: a line "diagnosis: words of the message",
//                                         and, where there is one, "check: the claim that fails"
//   prove_exercise retells FILE PROGRAM   each indented line of the drill's story begins one of
//   those
//                                         that it prints, in this order
#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <sstream>
#include <vector>

#include "base/check.h"
#include "tests/driver/shell.h"
#include "tools/exercises/texts.h"

namespace shardlings {

namespace {

constexpr std::ptrdiff_t kMostLines = 15;
constexpr std::size_t kMostColumns = 100;

void require(bool condition, const std::string& what, const Outcome& outcome) {
  if (!condition)
    fail(ExitCode::check_failed, "{}; exit code {}, output:\n{}", what, outcome.code,
         outcome.output);
}

// What follows "key: " in a line of `text`.
std::string value_of(const std::string& key, const std::string& text) {
  std::smatch match;
  return std::regex_search(text, match, std::regex("(?:^|\n)(?:// )?" + key + ": ([^\n]+)"))
             ? match[1].str()
             : "";
}

void prove_rejected(const std::string& file, const Outcome& outcome) {
  const std::string text = read_file(file), &message = outcome.output;
  const std::string diagnosis = value_of("diagnosis", text), claim = value_of("check", text);
  require(!diagnosis.empty(), file + " has no line \"diagnosis: ...\"", outcome);
  require(outcome.code == 1, "expected exit code 1", outcome);
  require(message.starts_with("wrong: "), "expected a first line \"wrong: ...\"", outcome);
  require(message.substr(0, message.find('\n')).ends_with(claim), "expected check: " + claim,
          outcome);
  const std::string on_one_line = std::regex_replace(message, std::regex("\n +"), " ");
  require(on_one_line.find(diagnosis) != message.npos, "expected diagnosis: " + diagnosis, outcome);

  require(std::ranges::count(message, '\n') <= kMostLines,
          fmt::format("more than {} lines", kMostLines), outcome);
  std::istringstream lines(message);
  for (std::string line; std::getline(lines, line);)
    require(line.size() <= kMostColumns, "too wide: " + line, outcome);
  for (const std::string part : {"\n  judged at ", ".cpp:", "\n  hint ", "\n  again "})
    require(message.find(part) != message.npos, "there is no line " + part, outcome);
}

// Tables are as wide as their widest cell.
std::string without_columns(const std::string& text) {
  return std::regex_replace(std::regex_replace(text, std::regex(" +"), " "), std::regex("\n "),
                            "\n");
}

void prove_retold(const Drill& drill, const std::string& program) {
  const TemporaryFolder folder;
  const std::string options = drill.run.substr(drill.run.find(' '));
  const Outcome outcome =
      shell(fmt::format("'{}'{} --output {}", program, options, folder.path().string()));
  const std::string output = without_columns(fmt::format("\n{}", outcome.output));
  std::istringstream story(drill.story);
  std::size_t told = 0;
  for (std::string line; std::getline(story, line);) {
    if (!line.starts_with("    ")) continue;
    line.replace(0, 4, "\n");
    told = output.find(without_columns(line), told);
    require(told != output.npos, "it does not print this line:" + line, outcome);
    ++told;
  }
}

void prove(const std::vector<std::string>& words) {
  CHECK(words.size() >= 2, "prove_exercise <what> [STEP | FILE] PROGRAM");
  if (words[0] == "retells") return prove_retold(read_drill(words[1]), words[2]);
  const Outcome outcome = shell("'" + words.back() + "'");
  if (words[0] == "passes") {
    require(outcome.code == 0 && outcome.output.starts_with("passed: "), "expected it to pass",
            outcome);
  } else if (words[0] == "stops_at") {
    require(outcome.code == 1 && outcome.output == "not written yet: " + words[1] + "\n",
            "expected it to stop at step " + words[1], outcome);
  } else {
    prove_rejected(words[1], outcome);
  }
}

}  // namespace

}  // namespace shardlings

int main(int count, char** words) {
  try {
    shardlings::prove(std::vector<std::string>(words + 1, words + count));
    return 0;
  } catch (const shardlings::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  }
}
