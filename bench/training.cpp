#include "bench/training.h"

#include <sys/resource.h>

#include <chrono>

#include "base/check.h"
#include "device/cuda/cuda.h"
#include "lessons/01_training_step/batch.h"
#include "lessons/01_training_step/exercise.h"
#include "storage/gpt2_checkpoint.h"

namespace shardlings::lesson01 {

namespace {

using Seconds = std::chrono::duration<double>;
using Clock = std::chrono::steady_clock;

constexpr Case kCases[] = {
    {"A", {.L = 4, .D = 256, .H = 8, .T = 256, .V = 256}, 8},
    {"nano", {.L = 4, .D = 128, .H = 4, .T = 128, .V = 256}, 8},
    {"micro", {.L = 6, .D = 256, .H = 8, .T = 256, .V = 256}, 8},
    {"gpt2", {.L = 12, .D = 768, .H = 12, .T = 64, .V = 50257}, 4},  // 64 positions of its 1024
    {"gpt2-1024", {.L = 12, .D = 768, .H = 12, .T = 1024, .V = 50257}, 8},  // all, for GPUs
    {"tiny", {.L = 2, .D = 32, .H = 2, .T = 16, .V = 300}, 2},              // for tests
};

// In the order of the variant.
constexpr std::string_view kNames[] = {"matmul",
                                       "column_sum",
                                       "fill",
                                       "cast",
                                       "scale",
                                       "add",
                                       "maximum",
                                       "add_scaled",
                                       "sum",
                                       "gelu",
                                       "gelu_backward",
                                       "layer_norm",
                                       "layer_norm_backward",
                                       "embedding",
                                       "scatter_add_rows",
                                       "cross_entropy",
                                       "cross_entropy_backward",
                                       "attention",
                                       "attention_backward",
                                       "adamw"};
static_assert(std::size(kNames) == kOperations);

// A batch that other programs repeat in integers: token n of all that are ever drawn, T + 1 for
// each sequence, is mix(n).
GlobalBatch batch_of(const Case& c, std::int64_t step) {
  const auto mix = [&](std::int64_t n) {
    const std::uint64_t bits = static_cast<std::uint64_t>(n) * 2654435761 % (1ULL << 32) >> 16;
    return static_cast<std::int32_t>(bits % static_cast<std::uint64_t>(c.size.V));
  };
  GlobalBatch batch;
  batch.sequences = c.B;
  batch.T = c.size.T;
  for (std::int64_t b = 0; b < c.B; ++b) {
    const std::int64_t first = (step * c.B + b) * (c.size.T + 1);
    for (std::int64_t t = 0; t < c.size.T; ++t) {
      batch.tokens_BT.push_back(mix(first + t));
      batch.targets_BT.push_back(mix(first + t + 1));
      batch.positions_BT.push_back(static_cast<std::int32_t>(t));
      batch.weights_BT.push_back(1);
    }
  }
  return batch;
}

std::int64_t page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

}  // namespace

const Case& case_named(std::string_view name) {
  for (const Case& c : kCases)
    if (c.name == name) return c;
  fail(ExitCode::usage, "the cases are A, nano, micro, gpt2, gpt2-1024 and tiny, not \"{}\"", name);
}

double StepTime::in_operations(std::string_view begin) const {
  double sum = 0;
  for (std::size_t i = 0; i < kOperations; ++i)
    if (kNames[i].starts_with(begin)) sum += by_operation[i];
  return sum;
}

std::vector<std::pair<std::string_view, double>> other_operations(const StepTime& time,
                                                                  double least_seconds) {
  std::vector<std::pair<std::string_view, double>> others;
  for (std::size_t i = 0; i < kOperations; ++i)
    if (time.by_operation[i] >= least_seconds && kNames[i] != "matmul" &&
        !kNames[i].starts_with("attention"))
      others.emplace_back(kNames[i], time.by_operation[i]);
  return others;
}

void TimedCpu::run(const Operation& operation, Stream stream) {
  const auto begin = Clock::now();
  CpuDevice::run(operation, stream);
  seconds[operation.index()] += Seconds(Clock::now() - begin).count();
}

std::unique_ptr<Device> Training::make_device(const Backend& backend) {
  if (backend.name == "cuda") return make_cuda_device(memory_, work_, {.tf32 = backend.tf32});
  auto cpu = std::make_unique<TimedCpu>(memory_, work_, backend.threads);
  timed_ = cpu.get();
  return cpu;
}

Training::Training(const Case& what, DType dtype, const Backend& backend)
    : case_(what),
      dtype_(dtype),
      device_(make_device(backend)),
      model_(*device_, dtype, what.size, 1),
      parameters_(model_.parameters()),
      optimizer_(parameters_, 0.1) {
  for (Parameter* parameter : parameters_) {
    parameter->open_gradient();
    parameter->clear_gradient();
  }
}

StepTime Training::step() {
  const GlobalBatch global = batch_of(case_, optimizer_.steps_done());
  const std::int64_t faults_before = page_faults();
  if (timed_ != nullptr) timed_->seconds = {};
  const auto begin = Clock::now();
  losses_.push_back(train_on(global));
  device_->synchronize();
  return {.seconds = Seconds(Clock::now() - begin).count(),
          .by_operation = timed_ != nullptr ? timed_->seconds : std::array<double, kOperations>{},
          .page_faults = page_faults() - faults_before};
}

// As in lessons/01_training_step/main.cpp, at one learning rate.
double Training::train_on(const GlobalBatch& global) {
  const Batch batch = to_device(global, *device_, dtype_);
  SavedTensors saved;
  const double loss_sum = model_.forward(batch, saved);
  model_.backward(1 / global.valid_tokens(), saved, weights_);
  clip_gradients(parameters_, 1);
  optimizer_.step(1e-3);
  for (Parameter* parameter : parameters_) parameter->clear_gradient();
  return loss_sum / global.valid_tokens();
}

void Training::export_to(const std::string& directory) const {
  std::vector<NamedTensor> tensors;
  for (const Parameter* p : parameters_) tensors.push_back({p->name, p->value});
  export_gpt2(directory, case_.size, tensors);
}

}  // namespace shardlings::lesson01
