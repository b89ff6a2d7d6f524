#include "storage/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/check.h"
#include "base/units.h"

namespace shardlings {

namespace {

std::string reason() {
  return std::generic_category().message(errno);
}

}  // namespace

// Opening a pipe that nobody writes to would wait; not with O_NONBLOCK, which plain files ignore.
InputFile::InputFile(const std::filesystem::path& path)
    : path_(path.string()), file_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
  if (file_ < 0) fail(ExitCode::no_input, "cannot read {}: {}", path_, reason());
  struct stat status {};
  const bool is_plain = ::fstat(file_, &status) == 0 && S_ISREG(status.st_mode);
  bytes_ = status.st_size;
  if (is_plain) return;
  ::close(file_);
  fail(ExitCode::no_input, "cannot read {}: it is not a plain file", path_);
}

InputFile::~InputFile() {
  ::close(file_);
}

void InputFile::read(std::int64_t first_byte, std::span<std::byte> to) const {
  while (!to.empty()) {
    const ssize_t got = ::pread(file_, to.data(), to.size(), first_byte);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(ExitCode::io, "cannot read {}: {}", path_, reason());
    if (got == 0)
      fail(ExitCode::bad_data, "{}: ends at byte {}; {} more expected", path_,
           format_count(first_byte), format_count(static_cast<std::int64_t>(to.size())));
    to = to.subspan(static_cast<std::size_t>(got));
    first_byte += got;
  }
}

std::string read_text(const std::filesystem::path& path, std::int64_t limit_bytes) {
  const InputFile file(path);
  if (file.bytes() > limit_bytes)
    fail(ExitCode::bad_data, "{}: {} bytes; at most {} expected", file.path(),
         format_count(file.bytes()), format_count(limit_bytes));
  std::string text(static_cast<std::size_t>(file.bytes()), '\0');
  file.read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace shardlings
