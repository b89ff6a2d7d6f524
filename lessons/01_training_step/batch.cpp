#include "lessons/01_training_step/batch.h"

namespace shardlings::lesson01 {

Batch to_device(const GlobalBatch& global, Device& device, DType dtype) {
  const Shape shape_BT{global.sequences, global.T};
  const auto indices = [&](const std::vector<std::int32_t>& values) {
    Tensor tensor(device, DType::i32, shape_BT, "batch");
    tensor.from_host<std::int32_t>(values);
    return tensor;
  };
  Tensor weights_BT(device, dtype, shape_BT, "batch");
  weights_BT.from_doubles(global.weights_BT);
  return {indices(global.tokens_BT), indices(global.targets_BT), indices(global.positions_BT),
          weights_BT};
}

}  // namespace shardlings::lesson01
