// The files that a deck is made from, by paths that start at the repository's root.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"

namespace shardlings {

// The whole of a file. Errors: Error(no_input) that names it.
std::string read_text(const std::filesystem::path& path);

// Its lines, without their ends.
std::vector<std::string> lines_of(std::string_view text);

std::string replaced_all(std::string text, std::string_view old_part, std::string_view new_part);

// Reads files and remembers which: the deck has to be made again when one of them changes.
class Sources {
 public:
  std::string read(const std::filesystem::path& path) {
    read_.insert(path);
    return read_text(path);
  }
  const std::set<std::filesystem::path>& all_read() const { return read_; }

 private:
  std::set<std::filesystem::path> read_;
};

// Does `work`; an error in it is told with the place it comes from.
template <class Work>
auto at(const std::string& place, Work work) {
  try {
    return work();
  } catch (const Error& error) {
    fail(error.code(), "{}: {}", place, error.what());
  }
}

}  // namespace shardlings
