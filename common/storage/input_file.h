// A file that others made: every read is checked, also against a file that shrinks meanwhile.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace shardlings {

class InputFile {
 public:
  // Errors: Error(no_input) with the path and the reason; what is not a plain file is refused.
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  std::int64_t bytes() const { return bytes_; }  // when it was opened

  // Fills `to` with what begins at `first_byte`.
  // Errors: Error(bad_data) when the file ends before that, Error(io) with the reason.
  void read(std::int64_t first_byte, std::span<std::byte> to) const;

 private:
  std::string path_;
  int file_;
  std::int64_t bytes_ = 0;
};

// The whole of a small file. Errors: as above, and Error(bad_data) above `limit_bytes`.
std::string read_text(const std::filesystem::path& path, std::int64_t limit_bytes);

}  // namespace shardlings
