#include "storage/safetensors.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "base/units.h"

namespace shardlings {

namespace {

static_assert(std::endian::native == std::endian::little, "numbers are stored as they are here");

constexpr std::int64_t kLengthBytes = 8;

// Where the data begin.
std::int64_t checked_header_bytes(const InputFile& file) {
  std::uint64_t length = 0;
  if (file.bytes() < kLengthBytes)
    fail(ExitCode::bad_data, "{}: {} bytes are no safetensors file", file.path(), file.bytes());
  file.read(0, std::as_writable_bytes(std::span(&length, 1)));
  const std::int64_t limit = std::min(file.bytes() - kLengthBytes, kMaxHeaderBytes);
  if (length > static_cast<std::uint64_t>(limit))
    fail(ExitCode::bad_data,
         "{}: no safetensors file, or cut short: a header of at most {} bytes expected, got {}",
         file.path(), format_count(limit), length);
  return kLengthBytes + static_cast<std::int64_t>(length);
}

SafetensorsHeader read_header(const InputFile& file, std::int64_t header_bytes) {
  std::string text(static_cast<std::size_t>(header_bytes - kLengthBytes), '\0');
  file.read(kLengthBytes, std::as_writable_bytes(std::span(text)));
  return parse_safetensors_header(text, file.bytes() - header_bytes, file.path());
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : file_(path),
      header_bytes_(checked_header_bytes(file_)),
      header_(read_header(file_, header_bytes_)) {}

void SafetensorsFile::read(const TensorEntry& entry, std::span<std::byte> bytes) const {
  CHECK(std::ssize(bytes) == entry.bytes, "{}: {} bytes into {}", entry.name, entry.bytes,
        bytes.size());
  file_.read(header_bytes_ + entry.first_byte, bytes);
}

void SafetensorsFile::read_rows(const TensorEntry& entry, std::int64_t begin, std::int64_t end,
                                std::span<std::byte> bytes) const {
  const std::int64_t rows = entry.shape.empty() ? 0 : entry.shape.front();
  CHECK(0 <= begin && begin <= end && end <= rows, "{}: rows {} to {} of {}", entry.name, begin,
        end, entry.shape_text());
  const std::int64_t row_bytes = rows == 0 ? 0 : entry.bytes / rows;
  CHECK(std::ssize(bytes) == (end - begin) * row_bytes, "{}: {} rows of {} bytes into {}",
        entry.name, end - begin, row_bytes, bytes.size());
  file_.read(header_bytes_ + entry.first_byte + begin * row_bytes, bytes);
}

SafetensorsWriter::SafetensorsWriter(std::filesystem::path path, std::vector<TensorEntry> entries,
                                     const Metadata& metadata)
    : file_(std::move(path)) {
  const std::string header = lay_out(entries, metadata);
  const std::uint64_t length = header.size();
  file_.append({reinterpret_cast<const char*>(&length), sizeof length});
  file_.append(header);
  for (const TensorEntry& entry : entries) missing_bytes_ += entry.bytes;
}

void SafetensorsWriter::append(std::span<const std::byte> bytes) {
  missing_bytes_ -= std::ssize(bytes);
  CHECK(missing_bytes_ >= 0, "{} bytes more than the tensors have", -missing_bytes_);
  file_.append({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void SafetensorsWriter::commit() {
  CHECK(missing_bytes_ == 0, "{} bytes of the tensors are missing", missing_bytes_);
  file_.commit();
}

}  // namespace shardlings
