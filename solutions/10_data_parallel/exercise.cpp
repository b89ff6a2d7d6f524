#include "lessons/10_data_parallel/exercise.h"

#include <algorithm>

namespace shardlings::lesson10 {

using namespace lesson01;

namespace {

// One piece of memory for all gradients, and in it each parameter's own, the last parameter's
// first.
Tensor lay_out_gradients(const Parameters& parameters) {
  // [exercise 10.1] make room for all gradients; give each parameter its part, in reverse order
  // | A flat tensor: Tensor(device, dtype, {elements}, owner, Category::gradients).
  // | columns(begin, end) of a flat tensor is a part of it, and view(shape) gives that its shape.
  const Tensor& like = parameters.front()->value;
  const Tensor gradients(like.device(), like.dtype(), {count_elements(parameters)}, "gradients",
                         Category::gradients);
  std::int64_t begin = 0;
  for (auto parameter = parameters.rbegin(); parameter != parameters.rend(); ++parameter) {
    const Tensor& value = (*parameter)->value;
    const std::int64_t end = begin + value.elements();
    (*parameter)->gradient = gradients.columns(begin, end).view(value.shape());
    begin = end;
  }
  return gradients;
  // [end]
}

}  // namespace

std::vector<Tensor> make_gradient_buckets(const Parameters& parameters, std::int64_t capacity) {
  const Tensor gradients = lay_out_gradients(parameters);
  std::vector<Tensor> buckets;
  // [exercise 10.2] cut the memory into buckets
  // | Every element is in one bucket: what does not fill one is the last.
  const std::int64_t P = gradients.elements();
  for (std::int64_t begin = 0; begin < P; begin += capacity)
    buckets.push_back(gradients.columns(begin, std::min(begin + capacity, P)));
  // [end]
  return buckets;
}

}  // namespace shardlings::lesson10
