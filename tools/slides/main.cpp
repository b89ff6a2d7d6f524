// Markdown into decks that stand alone. The target "slides" of CMake calls it.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "tools/slides/check.h"
#include "tools/slides/deck.h"

namespace shardlings {

namespace {

namespace fs = std::filesystem;

using Paths = std::vector<fs::path>;

int check(const Paths& paths) {
  const std::vector<std::string> findings = findings_on(paths[0]);
  for (const std::string& finding : findings)
    fmt::print(stderr, "{}: {}\n", paths[0].string(), finding);
  return static_cast<int>(findings.empty() ? ExitCode::ok : ExitCode::check_failed);
}

struct Command {
  std::string_view name, arguments, does;
  std::size_t fewest, most;
  int (*function)(const Paths& paths);
};

constexpr Command kCommands[] = {
    {"build", "DECK.md OUT.html", "make a deck, from the repository's root", 2, 2,
     [](const Paths& paths) { return build_deck(paths[0], paths[1]), 0; }},
    {"index", "OUT.html DECK.md...", "make the page that lists the decks", 1, SIZE_MAX,
     [](const Paths& paths) {
       return build_index({paths.begin() + 1, paths.end()}, paths[0]), 0;
     }},
    {"print", "DECK.html OUT.pdf", "print it, one slide per page", 2, 2,
     [](const Paths& paths) { return print_deck(paths[0], paths[1]), 0; }},
    {"draw", "DECK.html OUT.png", "draw it, one slide below the other", 2, 2,
     [](const Paths& paths) { return draw_deck(paths[0], paths[1]), 0; }},
    {"check", "DECK.html", "find what does not fit, is too small or is loaded", 1, 1, check},
};

int run(std::span<char*> words) {
  for (const Command& command : kCommands) {
    if (words.empty() || command.name != words[0]) continue;
    const Paths paths(words.begin() + 1, words.end());
    if (paths.size() >= command.fewest && paths.size() <= command.most)
      return command.function(paths);
    fail(ExitCode::usage, "usage: slides_tool {} {}", command.name, command.arguments);
  }
  std::string usage = "usage:";
  for (const Command& command : kCommands)
    usage += fmt::format("\n  slides_tool {:26} {}",
                         fmt::format("{} {}", command.name, command.arguments), command.does);
  fail(ExitCode::usage, "{}", usage);
}

}  // namespace

}  // namespace shardlings

int main(int count, char** words) {
  try {
    return shardlings::run({words + 1, words + count});
  } catch (const shardlings::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::filesystem::filesystem_error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(shardlings::ExitCode::io);
  }
}
