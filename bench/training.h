// Lesson 01's training step on a fixed model and fixed batches, timed operation by operation.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "device/cpu/cpu_device.h"
#include "lessons/01_training_step/gpt.h"
#include "lessons/01_training_step/optimizer.h"

namespace shardlings::lesson01 {

struct Case {
  std::string_view name;
  ModelSize size;
  std::int64_t B;
};

// Errors: Error(usage) that names those there are.
const Case& case_named(std::string_view name);

inline constexpr std::size_t kOperations = std::variant_size_v<Operation>;

struct StepTime {
  double seconds = 0;
  // Seconds, in the order of the variant. Only on the CPU: a GPU is not waited for in between.
  std::array<double, kOperations> by_operation{};
  std::int64_t page_faults = 0;  // pages that the system had to give

  // In those whose name begins so: "matmul", "attention", or "" for all. Seconds.
  double in_operations(std::string_view begin) const;
};

// Operations beside products and attention that took `least_seconds` or more: name and seconds.
std::vector<std::pair<std::string_view, double>> other_operations(const StepTime& time,
                                                                  double least_seconds);

class TimedCpu final : public CpuDevice {
 public:
  using CpuDevice::CpuDevice;
  std::array<double, kOperations> seconds{};  // since it was last set to zero

 protected:
  void run(const Operation& operation, Stream stream) override;
};

// Where a training runs.
struct Backend {
  std::string name = "cpu";  // or "cuda"
  int threads = 1;
  bool tf32 = false;  // on a GPU
};

class Training {
 public:
  // Errors: Error(unavailable) when there is no GPU.
  Training(const Case& what, DType dtype, const Backend& backend);

  StepTime step();

  // As a GPT-2 checkpoint. Errors: those of export_gpt2().
  void export_to(const std::string& directory) const;

  Device& device() { return *device_; }
  const MemoryLedger& memory() const { return memory_; }
  const Work& work() const { return work_.total(); }
  const std::vector<double>& losses() const { return losses_; }

 private:
  std::unique_ptr<Device> make_device(const Backend& backend);
  double train_on(const GlobalBatch& global);

  Case case_;
  DType dtype_;
  MemoryLedger memory_{"device"};
  WorkLedger work_;
  TimedCpu* timed_ = nullptr;  // the device, if it is one
  std::unique_ptr<Device> device_;
  Gpt model_;
  Parameters parameters_;
  WeightGradients weights_;
  Optimizer optimizer_;
  std::vector<double> losses_;
};

}  // namespace shardlings::lesson01
