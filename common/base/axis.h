// The axes of the mesh of ranks, and sets of them.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace shardlings {

enum class Axis { dp, pp, cp, tp };  // data, pipeline, context, tensor parallel

class Axes {
 public:
  constexpr Axes() = default;
  constexpr Axes(std::initializer_list<Axis> axes) {
    for (const Axis axis : axes) bits_ |= bit(axis);
  }
  constexpr bool contains(Axis axis) const { return (bits_ & bit(axis)) != 0; }
  constexpr bool operator==(const Axes&) const = default;

 private:
  static constexpr std::uint8_t bit(Axis axis) {
    return static_cast<std::uint8_t>(1u << static_cast<unsigned>(axis));
  }
  std::uint8_t bits_ = 0;
};

}  // namespace shardlings
