// Safetensors files: read with nothing taken on trust, written whole or not at all.
#pragma once

#include <filesystem>
#include <span>

#include "base/atomic_file.h"
#include "storage/input_file.h"
#include "storage/safetensors_header.h"

namespace shardlings {

class SafetensorsFile {
 public:
  // Reads and checks the header; the data stay on the disk until they are asked for.
  // Errors: Error(no_input) when it cannot be opened; Error(bad_data), one line, when it breaks a
  // rule of the format. Which tensors it ought to hold is for the caller to say.
  explicit SafetensorsFile(const std::filesystem::path& path);

  const std::string& path() const { return file_.path(); }
  const std::vector<TensorEntry>& entries() const { return header_.entries; }
  const Metadata& metadata() const { return header_.metadata; }

  // The whole tensor. Requires: `entry` is one of entries(), and `bytes` as long as it.
  // Errors: those of InputFile::read.
  void read(const TensorEntry& entry, std::span<std::byte> bytes) const;
  // Rows [begin, end) of its outermost dimension.
  void read_rows(const TensorEntry& entry, std::int64_t begin, std::int64_t end,
                 std::span<std::byte> bytes) const;

 private:
  InputFile file_;
  std::int64_t header_bytes_;  // its length field included: where the data begin
  SafetensorsHeader header_;
};

// Writes one file front to back, so that the data of one tensor at a time need be in memory.
class SafetensorsWriter {
 public:
  // Writes the header; the tensors will stand in the order of `entries`, whose first_byte and bytes
  // are not read. Requires: see lay_out.
  // Errors of each function: Error(io); what was at `path` is then still there.
  SafetensorsWriter(std::filesystem::path path, std::vector<TensorEntry> entries,
                    const Metadata& metadata);

  // The next bytes of the data: tensors in order, in pieces of any length.
  void append(std::span<const std::byte> bytes);
  // Puts the file in its place. Requires: all data have been given.
  void commit();

 private:
  AtomicFile file_;
  std::int64_t missing_bytes_ = 0;  // of the data
};

}  // namespace shardlings
