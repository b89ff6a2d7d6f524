// Where training text comes from, byte by byte: a token is a byte.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace shardlings {

// What a model trains on, and what it never sees but is judged by.
enum class Split { train, held_out };

class TokenSource {
 public:
  static constexpr std::int64_t kVocabulary = 256;

  virtual ~TokenSource() = default;

  virtual std::string name() const = 0;

  // Whether the probability of every byte is known, and with it the least loss possible.
  virtual bool has_floor() const = 0;

  // Fills `bytes` with sample `index` of `split`: T inputs and, one byte on, their T targets. A
  // pure function of the source's seed, `split` and `index`: any rank may ask, in any order.
  // `nats`, if not empty, gets -log p(bytes[t + 1] | bytes[0..t]) for t in [0, T).
  // Requires: bytes.size() == T + 1, T >= 1; nats.size() is T or 0, and 0 without a floor.
  virtual void sample(Split split, std::uint64_t index, std::span<std::uint8_t> bytes,
                      std::span<double> nats) const = 0;
};

}  // namespace shardlings
