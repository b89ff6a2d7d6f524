// What the tests of training steps share: a device with its ledgers, a batch, one step's gradients.
#pragma once

#include <memory>
#include <string>

#include "base/random.h"
#include "device/cpu/cpu_device.h"
#include "device/guarded/guarded_device.h"
#include "lessons/01_training_step/exercise.h"
#include "lessons/01_training_step/gpt.h"
#include "lessons/01_training_step/optimizer.h"
#include "tests/support/compare.h"

namespace shardlings::lesson01 {

struct Configuration {
  ModelSize size;
  std::int64_t B;
  DType dtype;
};

// Odd, one, and pairwise different sizes.
inline const std::vector<Configuration> kConfigurations{
    {{.L = 1, .D = 8, .H = 1, .T = 1, .V = 3}, 1, DType::f32},
    {{.L = 1, .D = 8, .H = 2, .T = 5, .V = 11}, 2, DType::f64},
    {{.L = 2, .D = 12, .H = 3, .T = 7, .V = 11}, 3, DType::f32},
    {{.L = 3, .D = 15, .H = 5, .T = 9, .V = 29}, 1, DType::f64},
    {{.L = 5, .D = 10, .H = 5, .T = 3, .V = 64}, 4, DType::f32},
    {{.L = 2, .D = 33, .H = 11, .T = 65, .V = 7}, 2, DType::f32},
    {{.L = 8, .D = 72, .H = 24, .T = 48, .V = 61}, 1, DType::f64},
    {{.L = 4, .D = 128, .H = 4, .T = 128, .V = 256}, 2, DType::f32},
};

class TestDevice {
 public:
  TestDevice(std::string_view kind, DType element_type, int threads = 2) : dtype(element_type) {
    if (kind == "guarded")
      device_ = std::make_unique<GuardedDevice>(memory, work, threads);
    else
      device_ = std::make_unique<CpuDevice>(memory, work, threads);
  }
  Device& device() const { return *device_; }

  const DType dtype;
  MemoryLedger memory{"device"};
  WorkLedger work;

 private:
  std::unique_ptr<Device> device_;
};

// Random tokens; the targets are the following ones; uneven numbers of valid tokens per sequence.
inline GlobalBatch random_batch(const ModelSize& size, std::int64_t sequences, std::uint64_t seed) {
  const RandomStream random(seed, "test batch");
  GlobalBatch batch;
  batch.sequences = sequences;
  batch.T = size.T;
  const auto token = [&](std::int64_t b, std::int64_t t) {
    return static_cast<std::int32_t>(random.below(
        static_cast<std::uint64_t>(size.V), static_cast<std::uint64_t>(b * (size.T + 1) + t)));
  };
  for (std::int64_t b = 0; b < sequences; ++b)
    for (std::int64_t t = 0; t < size.T; ++t) {
      batch.tokens_BT.push_back(token(b, t));
      batch.targets_BT.push_back(token(b, t + 1));
      batch.positions_BT.push_back(static_cast<std::int32_t>(t));
      batch.weights_BT.push_back((t + b) % (b + 3) == 0 ? 0 : 1);
    }
  return batch;
}

// Biases away from 0 and norm weights away from 1, so that nothing cancels by luck.
inline void make_uneven(const Parameters& parameters) {
  for (const Parameter* parameter : parameters) {
    const RandomStream random(99, parameter->name);
    std::vector<double> values = parameter->value.to_doubles();
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] += 0.1 * random.normal(static_cast<std::uint64_t>(parameter->range.begin) + i);
    parameter->value.from_doubles(values);
  }
}

// Mean loss over the valid tokens; leaves every parameter's gradient.
inline double loss_and_gradients(Gpt& model, const GlobalBatch& global, const TestDevice& test) {
  const Batch batch = to_device(global, test.device(), test.dtype);
  SavedTensors saved;
  WeightGradients weights;
  const double loss_sum = model.forward(batch, saved);
  model.backward(1 / global.valid_tokens(), saved, weights);
  return loss_sum / global.valid_tokens();
}

inline double loss_only(Gpt& model, const GlobalBatch& global, const TestDevice& test) {
  SavedTensors none = SavedTensors::none();
  return model.forward(to_device(global, test.device(), test.dtype), none) / global.valid_tokens();
}

inline NamedValues gradients_of(const Parameters& parameters) {
  NamedValues values;
  for (const Parameter* parameter : parameters)
    values[parameter->name] = parameter->gradient.to_doubles();
  return values;
}

inline NamedValues weights_of(const Parameters& parameters) {
  NamedValues values;
  for (const Parameter* parameter : parameters)
    values[parameter->name] = parameter->value.to_doubles();
  return values;
}

}  // namespace shardlings::lesson01
