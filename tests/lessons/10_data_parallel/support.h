// What the tests of data parallelism share: a model on every rank that trains as train_step does,
// and lesson 01's step to compare with.
#pragma once

#include "lessons/01_training_step/optimizer.h"
#include "lessons/10_data_parallel/exercise.h"
#include "lessons/10_data_parallel/replicas.h"
#include "tests/lessons/04_gradient_accumulation/support.h"
#include "tests/support/ranks.h"

namespace shardlings::lesson10 {

struct TrainingCase {
  ModelSize size = {.L = 2, .D = 15, .H = 5, .T = 7, .V = 11};
  DType dtype = DType::f64;
  std::int64_t sequences = 8, M = 1, bucket = 500;
  double clip = 0.5;  // far below the norms here
  std::int64_t steps = 3;
};

// What three steps leave behind.
struct Training {
  std::vector<double> losses, norms;
  std::vector<NamedValues> gradients;  // of every step, before clipping
  NamedValues weights;  // without the key biases: AdamW turns the rounding of their 0 into steps
};

// Calls add(batch) for every step: it leaves the gradients of the mean loss, which it returns.
inline Training train(lesson01::Gpt& model, const TrainingCase& settings,
                      const std::function<double(const GlobalBatch&)>& add) {
  const lesson01::Parameters parameters = model.parameters();
  lesson01::Optimizer optimizer(parameters, 0.1);
  Training training;
  for (std::int64_t step = 0; step < settings.steps; ++step) {
    training.losses.push_back(add(lesson04::uneven_batch(settings.size, settings.sequences,
                                                         static_cast<std::uint64_t>(step))));
    training.gradients.push_back(lesson01::gradients_of(parameters));
    training.norms.push_back(lesson01::clip_gradients(parameters, settings.clip));
    optimizer.step(1e-2);
    for (lesson01::Parameter* parameter : parameters) parameter->clear_gradient();
  }
  training.weights = lesson01::weights_of(parameters);
  std::erase_if(training.weights,
                [](const auto& entry) { return entry.first.ends_with("c_attn.bias"); });
  return training;
}

// On one device, the batch as a whole.
inline Training train_as_lesson_01(const TrainingCase& settings) {
  const lesson01::TestDevice test("cpu", settings.dtype, 1);
  lesson01::Gpt model(test.device(), settings.dtype, settings.size, 1);
  lesson01::make_uneven(model.parameters());
  return train(model, settings, [&](const GlobalBatch& batch) {
    return lesson01::loss_and_gradients(model, batch, test);
  });
}

// What differs between two trainings, in words; "" when nothing does.
inline std::string difference(const Training& got, const Training& expected, double tolerance) {
  const auto differ = [&](const char* what, const std::vector<double>& a,
                          const std::vector<double>& b) -> std::string {
    for (std::size_t i = 0; i < b.size(); ++i)
      if (!(std::abs(a.at(i) - b[i]) <= tolerance * std::abs(b[i])))
        return fmt::format("{} of step {}: {} expected, got {}", what, i + 1, b[i], a[i]);
    return "";
  };
  if (std::string text = differ("loss", got.losses, expected.losses); !text.empty()) return text;
  if (std::string text = differ("norm", got.norms, expected.norms); !text.empty()) return text;
  for (std::size_t i = 0; i < expected.gradients.size(); ++i)
    if (std::string text =
            gradient_difference(got.gradients.at(i), expected.gradients[i], tolerance);
        !text.empty())
      return fmt::format("step {}: {}", i + 1, text);
  return weight_difference(got.weights, expected.weights, tolerance, 1e-2);
}

}  // namespace shardlings::lesson10
