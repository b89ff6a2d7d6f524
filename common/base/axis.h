// The axes of the mesh of ranks, and sets of them.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace shardlings {

enum class Axis { dp, pp, cp, tp };  // data, pipeline, context, tensor parallel
inline constexpr int kAxes = 4;
inline constexpr std::array<Axis, kAxes> kAllAxes{Axis::dp, Axis::pp, Axis::cp, Axis::tp};

constexpr std::string_view name_of(Axis axis) {
  constexpr std::string_view names[] = {"dp", "pp", "cp", "tp"};
  return names[static_cast<int>(axis)];
}

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
