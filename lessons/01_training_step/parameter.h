// A trainable matrix or vector: what it is in the whole model, and which part of it lives here.
//
// The name, the whole size and the initial values are the same in any layout of ranks. Gradient
// reduction, the gradient norm, initialisation, checkpoints and resharding read this description
// and nothing else. In this lesson one device holds everything, so the part is the whole.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/axis.h"
#include "tensor/tensor.h"

namespace shardlings::lesson01 {

// A rectangle of a matrix; a vector is a matrix of one row.
struct Box {
  std::int64_t first_row = 0, rows = 0, first_column = 0, columns = 0;
  std::int64_t elements() const { return rows * columns; }
  bool operator==(const Box&) const = default;
};

// Elements [begin, end) of a box in row-major order.
struct FlatRange {
  std::int64_t begin = 0, end = 0;
  bool operator==(const FlatRange&) const = default;
};

// Initial values: normal with this mean and deviation (0: a constant).
struct Init {
  double mean = 0, deviation = 0;
};

struct Parameter {
  Device* device = nullptr;  // where it lives, once it has values
  DType dtype = DType::f32;
  std::string name;    // "h.0.mlp.c_fc.weight", as in GPT-2's published checkpoints
  Shape global_shape;  // of the whole parameter
  Init init;
  bool decays = false;  // weight decay is for matrices only

  Box box;                    // the part that this rank works with
  FlatRange range;            // the part of the box that is held here: all, or a piece (lesson 12)
  Axes replicated_over;       // ranks along these axes hold the same box
  Axes partial_over;          // ... and each has only a part of its gradient's sum
  bool is_tied_copy = false;  // another stage of the pipeline holds the original

  Tensor value;  // of shape(), in a piece flat; empty before it has storage
  Tensor gradient;

  std::int64_t elements() const { return range.end - range.begin; }
  // The box's, or {elements()} when only a piece of it is held.
  Shape shape() const;

  // Makes room for the gradient if there is none. False: the caller writes the first part of a new
  // sum; true: the gradient holds parts already and the caller adds to them.
  // Cost: elements() in `gradients`, the first time.
  bool open_gradient();
  // The next part begins a new sum; the storage stays. The same as setting the gradient to zero,
  // without touching it.
  void clear_gradient() { gradient_is_open_ = false; }
  bool has_gradient() const { return gradient_is_open_; }

 private:
  bool gradient_is_open_ = false;
};

using ParameterVisitor = std::function<void(Parameter&)>;
using Parameters = std::vector<Parameter*>;

// The whole parameter on one device, without storage yet.
Parameter whole_parameter(Device& device, DType dtype, std::string name, const Shape& shape,
                          Init init);

// Fills `value` with the parameter's initial values: each a function of (seed, name, global element
// index) alone, so that any shard of any layout starts with its slice of the same whole. Makes room
// if there is none. Cost: elements() in `parameters`, then.
void initialise(Parameter& parameter, std::uint64_t seed);

// Elements over all parameters.
std::int64_t count_elements(const Parameters& parameters);

}  // namespace shardlings::lesson01
