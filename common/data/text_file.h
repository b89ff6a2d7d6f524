// Any file as text to train on: a byte is a token, binary files included.
#pragma once

#include <filesystem>
#include <vector>

#include "base/random.h"
#include "data/token_source.h"

namespace shardlings {

class TextFile final : public TokenSource {
 public:
  // Reads the whole file. Its last tenth is held out; the rest is for training.
  // Requires: T >= 1, the longest sample to be drawn.
  // Errors: Error(no_input) when it cannot be read, Error(bad_data) when it is empty or a sample of
  // T + 1 bytes does not fit into both splits; both name the path.
  // Cost: the bytes of the file.
  TextFile(const std::filesystem::path& path, std::int64_t T, std::uint64_t seed);

  std::string name() const override { return path_.string(); }
  bool has_floor() const override { return false; }
  std::span<const std::uint8_t> bytes() const { return bytes_; }

  // Consecutive bytes from anywhere in the split, evenly.
  void sample(Split split, std::uint64_t index, std::span<std::uint8_t> bytes,
              std::span<double> nats) const override;

 private:
  std::span<const std::uint8_t> part(Split split) const;

  std::filesystem::path path_;
  std::vector<std::uint8_t> bytes_;
  RandomStream starts_;
};

}  // namespace shardlings
