// For tests that drive programs.
#pragma once

#include <filesystem>
#include <string>

namespace shardlings {

struct Outcome {
  int code;            // the exit code
  std::string output;  // what was printed, errors included
};

// Runs a line of sh with nothing to read. A program that hangs is ended by the test's own time-out.
Outcome shell(const std::string& line);

// A new folder that ends with this object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

void write_file(const std::filesystem::path& path, const std::string& text);
std::string read_file(const std::filesystem::path& path);  // "" when there is none

}  // namespace shardlings
