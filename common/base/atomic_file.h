// Files that are replaced whole or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace shardlings {

// A file in the making: its bytes are written beside `path`, and commit() forces them to the disk
// and puts them in the place of `path`. Whoever opens `path`, also after a crash, finds the old
// bytes or the new ones.
// Errors: each function throws Error(io) with the path and the system's reason; what was at `path`
// is then still there, and nothing of ours is left beside it.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();  // without commit(): nothing has happened
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void append(std::string_view bytes);
  void commit();  // once, at the end

 private:
  [[noreturn]] void fail_with_reason() const;  // that in errno

  std::filesystem::path path_;
  std::string beside_;
  int file_ = -1;  // -1: closed
};

// The same in one call, for bytes that are all there.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

// Makes a directory and those above it, where they are missing.
// Errors: Error(io) with the path and the system's reason.
void make_directory(const std::filesystem::path& path);

}  // namespace shardlings
