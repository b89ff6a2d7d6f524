#include "base/atomic_file.h"

#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

#include "base/check.h"
#include "tests/common/base/file_size_limit.h"
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

TEST_CASE("a file in the making is not there until it is committed") {
  const TemporaryDirectory directory;
  const fs::path path = directory.path / "model";
  write_file_atomically(path, "old");
  {
    AtomicFile file(path);
    file.append("new ");
    CHECK(content(path) == "old");
  }
  CHECK(content(path) == "old");
  CHECK(entries(directory.path) == 1);
  AtomicFile file(path);
  file.append("new ");
  file.append("bytes");
  file.commit();
  CHECK(content(path) == "new bytes");
  CHECK(entries(directory.path) == 1);
}

TEST_CASE("directories are made with those above them") {
  const TemporaryDirectory directory;
  make_directory(directory.path / "a" / "b");
  make_directory(directory.path / "a" / "b");
  CHECK(fs::is_directory(directory.path / "a" / "b"));
  write_file_atomically(directory.path / "file", "");
  CHECK_THROWS_WITH(make_directory(directory.path / "file" / "b"),
                    "cannot make the directory " + (directory.path / "file" / "b").string() +
                        ": Not a directory");
}
