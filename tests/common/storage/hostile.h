// Reads whatever bytes as a safetensors file, the way a program would.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "storage/safetensors.h"

namespace shardlings {

// A file in memory whose bytes can be replaced.
class MemoryFile {
 public:
  MemoryFile() : file_(::memfd_create("hostile", MFD_CLOEXEC)) {}
  ~MemoryFile() { ::close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

  void set(std::string_view bytes) const {
    CHECK(::ftruncate(file_, 0) == 0, "the file stays");
    CHECK(::pwrite(file_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()),
          "a short write");
  }

 private:
  int file_;
};

// Opens it, checks what a reader may rely on, and reads all data. Returns the message when the file
// is refused as bad data, in one line that names it; "" when it is read. Anything else is thrown.
inline std::string verdict_on(const std::string& path) {
  try {
    const SafetensorsFile file(path);
    std::int64_t end = 0;
    for (const TensorEntry& entry : file.entries()) {
      std::int64_t bytes = bytes_per_element(entry.type);
      for (const std::int64_t size : entry.shape) bytes *= size;
      CHECK(entry.first_byte == end && entry.bytes == bytes, "{} is not where it should be",
            entry.name);
      end += bytes;
      std::vector<std::byte> data(static_cast<std::size_t>(bytes));
      file.read(entry, data);
    }
    return "";
  } catch (const Error& error) {
    const std::string_view what = error.what();
    if (error.code() != ExitCode::bad_data) throw;
    CHECK(what.starts_with(path) && what.find_first_of("\n\r") == what.npos, "{}", what);
    return error.what();
  }
}

}  // namespace shardlings
