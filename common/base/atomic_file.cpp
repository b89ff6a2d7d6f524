#include "base/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "base/check.h"

namespace shardlings {

namespace {

// Each of these leaves the reason in errno when it returns false.

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// A rename is on the disk once its directory is. Some file systems cannot be asked (EINVAL).
bool sync_directory(const char* path) {
  const int directory = ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return false;
  const bool synced = ::fsync(directory) == 0 || errno == EINVAL;
  const int reason = errno;
  ::close(directory);
  errno = reason;
  return synced;
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path path)
    : path_(std::move(path)), beside_(fmt::format("{}.{}.tmp", path_.string(), ::getpid())) {
  file_ = ::open(beside_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) fail_with_reason();
}

AtomicFile::~AtomicFile() {
  if (file_ >= 0) ::close(file_);
  ::unlink(beside_.c_str());  // after a commit there is nothing of that name
}

void AtomicFile::append(std::string_view bytes) {
  if (!write_all(file_, bytes)) fail_with_reason();
}

void AtomicFile::commit() {
  const std::string directory = path_.has_parent_path() ? path_.parent_path().string() : ".";
  if (::fsync(file_) != 0 || ::close(std::exchange(file_, -1)) != 0 ||
      std::rename(beside_.c_str(), path_.c_str()) != 0 || !sync_directory(directory.c_str()))
    fail_with_reason();
}

void AtomicFile::fail_with_reason() const {
  const std::error_code reason(errno, std::generic_category());
  fail(ExitCode::io, "cannot write {}: {}", path_.string(), reason.message());
}

void write_file_atomically(const std::filesystem::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.append(bytes);
  file.commit();
}

void make_directory(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) fail(ExitCode::io, "cannot make the directory {}: {}", path.string(), error.message());
}

}  // namespace shardlings
