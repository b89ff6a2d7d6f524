// Lesson 10, yours to write: ./shardlings check 10 judges it, hint 10 helps.
// Made from solutions/10_data_parallel/exercise.cpp; ./shardlings reset 10 makes it anew.

#include "lessons/10_data_parallel/exercise.h"

#include "base/todo.h"

#include <algorithm>

namespace shardlings::lesson10 {

using namespace lesson01;

namespace {

// One piece of memory for all gradients, and in it each parameter's own, the last parameter's
// first.
Tensor lay_out_gradients(const Parameters& parameters) {
  // 10.1: make room for all gradients; give each parameter its part, in reverse order
  // A flat tensor: Tensor(device, dtype, {elements}, owner, Category::gradients).
  // columns(begin, end) of a flat tensor is a part of it, and view(shape) gives that its shape.
  todo("10.1");
}

}  // namespace

std::vector<Tensor> make_gradient_buckets(const Parameters& parameters, std::int64_t capacity) {
  const Tensor gradients = lay_out_gradients(parameters);
  std::vector<Tensor> buckets;
  // 10.2: cut the memory into buckets
  // Every element is in one bucket: what does not fill one is the last.
  todo("10.2");
  return buckets;
}

}  // namespace shardlings::lesson10
