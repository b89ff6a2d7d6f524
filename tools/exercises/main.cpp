// make_exercise SOLUTION FILE                  writes what a learner starts from
// make_exercise SOLUTION FILE --without STEP   ... with all steps solved but one
// make_exercise SOLUTION FILE --check          compares FILE with it instead
//
// Started in the repository's root: SOLUTION is a path from there.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/atomic_file.h"
#include "base/check.h"
#include "tools/exercises/skeleton.h"

namespace shardlings {

namespace {

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) fail(ExitCode::no_input, "cannot read {}: {}", path, std::strerror(errno));
  return text.str();
}

void make_exercise(const std::vector<std::string>& words) {
  const bool one = words.size() == 4 && words[2] == "--without";
  const bool check = words.size() == 3 && words[2] == "--check";
  if (words.size() != 2 && !one && !check)
    fail(ExitCode::usage, "make_exercise SOLUTION FILE [--without STEP | --check]");
  const std::string &solution = words[0], &file = words[1];
  const std::string text =
      one ? without_step(read(solution), solution, words[3]) : skeleton(read(solution), solution);
  if (!check) {
    make_directory(std::filesystem::path(file).parent_path());
    return write_file_atomically(file, text);
  }
  if (read(file) != text)
    fail(ExitCode::check_failed,
         "{} is not what {} makes: build the target exercises_from_solutions", file, solution);
}

}  // namespace

}  // namespace shardlings

int main(int count, char** words) {
  try {
    shardlings::make_exercise(std::vector<std::string>(words + 1, words + count));
    return 0;
  } catch (const shardlings::Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return static_cast<int>(error.code());
  }
}
