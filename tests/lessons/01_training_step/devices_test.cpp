// One training step on every device of this build and machine, the emulated GPU among them, against
// the CPU on one thread in f64.
#include "tests/support/devices.h"
#include "tests/lessons/01_training_step/support.h"

#include "tests/support/catch.h"  // after everything else: it has a CHECK of its own

using namespace shardlings;
using namespace shardlings::lesson01;

namespace {

// Odd sizes: no tile, warp or chunk of rows is full.
constexpr ModelSize kSize{.L = 2, .D = 66, .H = 3, .T = 35, .V = 61};

struct Learned {
  double loss;
  NamedValues gradients;
};

Learned step_on(Device& device, DType dtype) {
  Gpt model(device, dtype, kSize, 1);
  const GlobalBatch global = random_batch(kSize, 3, 1);
  const Batch batch = to_device(global, device, dtype);
  SavedTensors saved;
  WeightGradients weights;
  const double loss_sum = model.forward(batch, saved);
  model.backward(1 / global.valid_tokens(), saved, weights);
  return {loss_sum / global.valid_tokens(), gradients_of(model.parameters())};
}

}  // namespace

TEST_CASE("loss and every gradient are the same on all devices") {
  std::optional<Learned> expected;
  for (const DType dtype : {DType::f64, DType::f32})
    for (const shardlings::TestDevice& kind : test_devices()) {
      INFO(kind.name << ", " << name_of(dtype));
      MemoryLedger memory("device");
      WorkLedger work;
      const std::unique_ptr<Device> device = kind.make(memory, work);
      const Learned got = step_on(*device, dtype);
      if (!expected) expected = got;
      const double tolerance = dtype == DType::f64 ? 1e-10 : kind.f32_tolerance;
      CHECK(std::abs(got.loss / expected->loss - 1) <= tolerance);
      CHECK(gradient_difference(got.gradients, expected->gradients, tolerance) == "");
    }
}
