// Up to four sizes, outermost first.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "base/check.h"

namespace shardlings {

class Shape {
 public:
  static constexpr std::size_t kMaxRank = 4;

  Shape() = default;
  Shape(std::initializer_list<std::int64_t> sizes);

  std::size_t rank() const { return rank_; }
  std::int64_t operator[](std::size_t i) const { return sizes_[i]; }
  std::int64_t last() const { return sizes_[rank_ - 1]; }
  Shape with_last(std::int64_t size) const;
  std::int64_t elements() const;

  bool operator==(const Shape&) const = default;
  std::string text() const;  // "8 x 128 x 64"

 private:
  std::array<std::int64_t, kMaxRank> sizes_{};
  std::size_t rank_ = 0;
};

}  // namespace shardlings
