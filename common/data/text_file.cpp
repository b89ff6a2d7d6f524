#include "data/text_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>

#include "base/check.h"
#include "base/units.h"

namespace shardlings {

namespace {

std::vector<std::uint8_t> read_whole(const std::filesystem::path& path) {
  const auto cannot_read = [&](int reason) {
    fail(ExitCode::no_input, "cannot read {}: {}", path.string(), std::strerror(reason));
  };
  std::error_code unknown;
  const std::filesystem::file_type type = std::filesystem::status(path, unknown).type();
  using std::filesystem::file_type;
  if (type == file_type::fifo || type == file_type::character || type == file_type::socket)
    fail(ExitCode::no_input, "cannot read {}: a plain file is expected", path.string());
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (file == nullptr) cannot_read(errno);
  std::vector<std::uint8_t> bytes;
  std::error_code has_no_size;  // a pipe, for instance
  const std::uintmax_t size = std::filesystem::file_size(path, has_no_size);
  if (!has_no_size) bytes.reserve(size);
  std::array<std::uint8_t, 65536> chunk;
  while (const std::size_t count = std::fread(chunk.data(), 1, chunk.size(), file.get()))
    bytes.insert(bytes.end(), chunk.begin(), chunk.begin() + count);
  if (std::ferror(file.get())) cannot_read(errno);  // a directory, for instance
  return bytes;
}

}  // namespace

TextFile::TextFile(const std::filesystem::path& path, std::int64_t T, std::uint64_t seed)
    : path_(path), bytes_(read_whole(path)), starts_(seed, "text") {
  CHECK(T >= 1, "samples of T = {} tokens", T);
  if (bytes_.empty()) fail(ExitCode::bad_data, "{} is empty; give it text to train on", name());
  // The rest, for training, is never the shorter part.
  const auto held_out = static_cast<std::int64_t>(part(Split::held_out).size());
  if (held_out < T + 1)
    fail(ExitCode::bad_data,
         "{} has {} bytes; T = {} takes samples of {}, and the last tenth, which is held out, has "
         "{}: use a file of at least {} bytes or a shorter context T",
         name(), format_count(static_cast<std::int64_t>(bytes_.size())), T, format_count(T + 1),
         format_count(held_out), format_count(10 * (T + 1)));
}

std::span<const std::uint8_t> TextFile::part(Split split) const {
  const std::span<const std::uint8_t> all = bytes_;
  const std::size_t held_out = all.size() / 10;
  return split == Split::held_out ? all.last(held_out) : all.first(all.size() - held_out);
}

void TextFile::sample(Split split, std::uint64_t index, std::span<std::uint8_t> bytes,
                      std::span<double> nats) const {
  const std::span<const std::uint8_t> text = part(split);
  CHECK(bytes.size() <= text.size(), "a sample of {} bytes from {}", bytes.size(), text.size());
  CHECK(nats.empty(), "the entropy of {} is not known", name());
  const std::uint64_t start = starts_.below(text.size() - bytes.size() + 1, index);
  std::ranges::copy(text.subspan(start, bytes.size()), bytes.begin());
}

}  // namespace shardlings
