#include "base/atomic_file.h"

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <string>

#include "base/check.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

namespace fs = std::filesystem;

// A directory of its own for each test, gone at its end.
struct TemporaryDirectory {
  fs::path path = fs::temp_directory_path() / fmt::format("shardlings_file_{}", ::getpid());
  TemporaryDirectory() { fs::create_directories(path); }
  ~TemporaryDirectory() { fs::remove_all(path); }
};

// As on a full disk, no file grows beyond `bytes` while this lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_{};
};

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::int64_t entries(const fs::path& directory) {
  return std::distance(fs::directory_iterator(directory), fs::directory_iterator());
}

// What writing says when it fails; "" when it does not.
std::string failure(const fs::path& path, std::string_view bytes) {
  try {
    write_file_atomically(path, bytes);
    return "";
  } catch (const Error& error) {
    return error.code() == ExitCode::io ? error.what() : "not an I/O error";
  }
}

}  // namespace

TEST_CASE("a file is written, and replaced, byte for byte") {
  const TemporaryDirectory directory;
  const fs::path path = directory.path / "report.json";
  const std::string bytes("zero \0 and \xff", 12);
  write_file_atomically(path, bytes);
  CHECK(content(path) == bytes);
  write_file_atomically(path, "");
  CHECK(content(path) == "");
  CHECK(entries(directory.path) == 1);
}

TEST_CASE("a disk that fills up leaves the old file and nothing else") {
  const TemporaryDirectory directory;
  const fs::path path = directory.path / "report.json";
  write_file_atomically(path, "old");
  std::string message;
  {
    const FileSizeLimit limit(1000);
    message = failure(path, std::string(5000, 'x'));
  }
  CHECK(message == "cannot write " + path.string() + ": File too large");
  CHECK(content(path) == "old");
  CHECK(entries(directory.path) == 1);
}

TEST_CASE("a place that cannot be written is named") {
  const TemporaryDirectory directory;
  const fs::path file = directory.path / "file";
  write_file_atomically(file, "old");
  CHECK(failure(file / "report.json", "new") ==
        "cannot write " + (file / "report.json").string() + ": Not a directory");
  CHECK(failure(directory.path / "absent" / "r", "new").ends_with(": No such file or directory"));
  fs::create_directories(directory.path / "folder" / "inside");
  CHECK(failure(directory.path / "folder", "new").ends_with(": Is a directory"));
  CHECK(content(file) == "old");
  CHECK(entries(directory.path) == 2);
}
