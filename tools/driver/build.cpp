#include "tools/driver/build.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/check.h"
#include "configured.h"
#include "tools/driver/build_log.h"

namespace shardlings {

namespace {

// One line on the terminal that is overwritten, or one plain line elsewhere.
class Progress {
 public:
  explicit Progress(const std::string& what) : what_(what) {}

  void update(std::string_view line) {
    if (std::chrono::steady_clock::now() - start_ < std::chrono::seconds(2)) return;
    if (terminal_)
      fmt::print(stderr, "\r\033[K{} {}", what_, step_of(line).value_or(""));
    else if (!shown_)
      fmt::print(stderr, "{}\n", what_);
    shown_ = true;
  }

  void clear() const {
    if (terminal_ && shown_) fmt::print(stderr, "\r\033[K");
  }

 private:
  const std::string& what_;
  const bool terminal_ = isatty(STDERR_FILENO) == 1;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool shown_ = false;
};

void show_messages(const std::vector<std::string>& messages) {
  constexpr std::size_t kMost = 40;
  for (std::size_t i = 0; i < std::min(messages.size(), kMost); ++i)
    fmt::print(stderr, "{}\n", messages[i]);
  if (messages.size() > kMost)
    fmt::print(stderr, "... and {} lines more\n", messages.size() - kMost);
}

}  // namespace

void run_quietly(const CommandLine& command, const std::string& what, const std::string& log) {
  const auto path = std::filesystem::path(kBuildFolder) / "log" / (log + ".txt");
  std::error_code exists;  // a folder that cannot be made shows when the file is opened
  std::filesystem::create_directories(path.parent_path(), exists);
  std::ofstream file(path);
  if (!file) fail(ExitCode::io, "{} cannot be written", path.string());

  Progress progress(what);
  std::vector<std::string> lines;
  const int status = run_by_line(command, [&](std::string_view line) {
    file << line << '\n';
    lines.emplace_back(line);
    progress.update(line);
  });
  progress.clear();
  if (status == 0) return;
  show_messages(messages_of(lines));
  fail(ExitCode::bad_data, "{}: failed; the whole log is {}", what, path.string());
}

void build_target(const std::string& target, const std::string& what) {
  run_quietly({"cmake", "--build", kBuildFolder, "--target", target}, "building " + what, target);
}

}  // namespace shardlings
