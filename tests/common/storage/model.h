// A small GPT-2's tensors on a device, with values that tell them apart.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/model_size.h"
#include "base/random.h"
#include "storage/named_tensors.h"
#include "tests/support/devices.h"

namespace shardlings {

inline constexpr ModelSize kSmall{.L = 2, .D = 6, .H = 3, .T = 5, .V = 7};

// A device with its ledgers; of kind 0 or 1, plain or guarded.
struct Machine {
  MemoryLedger memory{"device"};
  WorkLedger work;
  std::unique_ptr<Device> device;

  explicit Machine(bool guarded = false) {
    const std::vector<TestDevice> devices = test_devices();
    device = (guarded ? devices.back() : devices.front()).make(memory, work);
  }
};

inline std::vector<NamedTensor> model_tensors(Device& device, DType dtype, const ModelSize& size,
                                              std::uint64_t seed) {
  const std::int64_t D = size.D, F = size.F();
  std::vector<NamedTensor> tensors;
  const auto add = [&](const std::string& name, const Shape& shape) {
    const Tensor value(device, dtype, shape, name, Category::parameters);
    const RandomStream random(seed, name);
    std::vector<double> values(static_cast<std::size_t>(shape.elements()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = random.normal(i);
    value.from_doubles(values);
    tensors.push_back({name, value});
  };
  const auto add_pair = [&](const std::string& name, const Shape& shape) {
    add(name + ".weight", shape);
    add(name + ".bias", {shape.last()});
  };
  add("wte.weight", {size.V, D});
  add("wpe.weight", {size.T, D});
  for (std::int64_t l = 0; l < size.L; ++l) {
    const std::string block = fmt::format("h.{}.", l);
    add_pair(block + "ln_1", {D});
    add_pair(block + "attn.c_attn", {D, 3 * D});
    add_pair(block + "attn.c_proj", {D, D});
    add_pair(block + "ln_2", {D});
    add_pair(block + "mlp.c_fc", {D, F});
    add_pair(block + "mlp.c_proj", {F, D});
  }
  add_pair("ln_f", {D});
  return tensors;
}

// Every value, rounded to a type.
inline std::vector<std::vector<double>> values_of(const std::vector<NamedTensor>& tensors,
                                                  DType to = DType::f64) {
  std::vector<std::vector<double>> values;
  for (const NamedTensor& tensor : tensors) {
    values.push_back(tensor.value.to_doubles());
    with_real_or_bf16(to, [&]<class T>(T) {
      for (double& value : values.back()) value = static_cast<T>(value);
    });
  }
  return values;
}

}  // namespace shardlings
