#include <cmath>
#include <vector>

#include "device/cpu/cpu_parallel.h"
#include "device/kernels.h"

namespace shardlings {

namespace {

// Tasks are large enough to hide a thread's wake-up and small enough to share out.
constexpr std::int64_t kElementsPerTask = 1 << 14;
constexpr std::int64_t kColumnsPerTask = 64;

template <class Kernel>
void each_element(std::int64_t count, const Cpu& cpu, const Kernel& kernel) {
  const std::int64_t tasks = (count + kElementsPerTask - 1) / kElementsPerTask;
  parallel_for(cpu, tasks, [&](std::int64_t task) {
    const std::int64_t end = std::min(count, (task + 1) * kElementsPerTask);
#pragma GCC ivdep
    for (std::int64_t i = task * kElementsPerTask; i < end; ++i) kernel(i);
  });
}

template <class Kernel>
void each_row(std::int64_t rows, std::int64_t columns, const Cpu& cpu, const Kernel& kernel) {
  const std::int64_t rows_per_task =
      kElementsPerTask / std::clamp<std::int64_t>(columns, 1, kElementsPerTask);
  const std::int64_t tasks = (rows + rows_per_task - 1) / rows_per_task;
  parallel_for(cpu, tasks, [&](std::int64_t task) {
    const std::int64_t end = std::min(rows, (task + 1) * rows_per_task);
    for (std::int64_t r = task * rows_per_task; r < end; ++r) kernel(r, CpuRow{});
  });
}

template <class Kernel>
void each_column(std::int64_t rows, std::int64_t columns, const Cpu& cpu, const Kernel& kernel) {
  const std::int64_t tasks = (columns + kColumnsPerTask - 1) / kColumnsPerTask;
  parallel_for(cpu, tasks, [&](std::int64_t task) {
    const std::int64_t begin = task * kColumnsPerTask;
    const std::int64_t end = std::min(columns, begin + kColumnsPerTask);
    for (std::int64_t r = 0; r < rows; ++r)
#pragma GCC ivdep
      for (std::int64_t c = begin; c < end; ++c) kernel(r, c);
  });
}

template <class T>
void sum_in_double(const Sum& op, const Cpu& cpu) {
  const T* x = cpu.at<T>(op.x);
  const std::int64_t tasks = (op.count + kElementsPerTask - 1) / kElementsPerTask;
  std::vector<double> parts(static_cast<std::size_t>(tasks));
  parallel_for(cpu, tasks, [&](std::int64_t task) {
    const T* part = x + task * kElementsPerTask;
    const std::int64_t n = std::min(kElementsPerTask, op.count - task * kElementsPerTask);
    const bool squares = op.squares;
    parts[static_cast<std::size_t>(task)] = CpuRow{}.sum(n, [=](std::int64_t i) {
      const double value = part[i];
      return squares ? value * value : value;
    });
  });
  double sum = 0;
  for (const double part : parts) sum += part;
  *cpu.at<double>(op.sum) = sum;
}

}  // namespace

void run(const Fill& op, const Cpu& cpu) {
  with_real_type(op.dtype, [&]<class T>(T) {
    each_element(op.count, cpu, FillKernel<T>{cpu.at<T>(op.y), static_cast<T>(op.value)});
  });
}

void run(const Copy& op, const Cpu& cpu) {
  with_real_type(op.dtype, [&]<class T>(T) {
    each_element(op.count, cpu, CopyKernel<T>{cpu.at<T>(op.y), cpu.at<T>(op.x)});
  });
}

void run(const Scale& op, const Cpu& cpu) {
  with_real_type(op.dtype, [&]<class T>(T) {
    each_element(op.count, cpu, ScaleKernel<T>{cpu.at<T>(op.y), static_cast<T>(op.factor)});
  });
}

void run(const Add& op, const Cpu& cpu) {
  with_real_type(op.dtype, [&]<class T>(T) {
    each_element(op.count, cpu, AddKernel<T>{cpu.at<T>(op.z), cpu.at<T>(op.x), cpu.at<T>(op.y)});
  });
}

void run(const AddScaled& op, const Cpu& cpu) {
  with_real_type(op.dtype, [&]<class T>(T) {
    each_element(op.count, cpu,
                 AddScaledKernel<T>{cpu.at<T>(op.y), cpu.at<T>(op.x), static_cast<T>(op.factor)});
  });
}

void run(const Sum& op, const Cpu& cpu) {
  with_real_type(op.dtype, [&]<class T>(T) { sum_in_double<T>(op, cpu); });
}

void run(const GeluForward& op, const Cpu& cpu) {
  with_real_type(op.dtype, [&]<class T>(T) {
    each_element(op.count, cpu, GeluForwardKernel<T>{cpu.at<T>(op.y), cpu.at<T>(op.x)});
  });
}

void run(const GeluBackward& op, const Cpu& cpu) {
  with_real_type(op.dtype, [&]<class T>(T) {
    each_element(op.count, cpu,
                 GeluBackwardKernel<T>{cpu.at<T>(op.d_x), cpu.at<T>(op.x), cpu.at<T>(op.d_y)});
  });
}

void run(const AdamW& op, const Cpu& cpu) {
  with_real_type(op.dtype, [&]<class T>(T) {
    AdamWKernel<T> kernel(op);
    kernel.w = cpu.at<T>(op.w);
    kernel.m = cpu.at<T>(op.m);
    kernel.v = cpu.at<T>(op.v);
    kernel.g = cpu.at<T>(op.g);
    each_element(op.count, cpu, kernel);
  });
}

void run(const ColumnSum& op, const Cpu& cpu) {
  with_real_type(op.dtype, [&]<class T>(T) {
    T* sum = cpu.at<T>(op.sum);
    if (!op.accumulate) std::fill_n(sum, op.x.columns, T{0});
    each_column(op.x.rows, op.x.columns, cpu,
                ColumnSumKernel<T>{sum, cpu.at<T>(op.x.data), op.x.stride});
  });
}

void run(const LayerNormForward& op, const Cpu& cpu) {
  with_real_type(op.dtype, [&]<class T>(T) {
    each_row(op.rows, op.D, cpu,
             LayerNormForwardKernel<T>{cpu.at<T>(op.y), cpu.at<T>(op.mean),
                                       cpu.at<T>(op.inverse_deviation), cpu.at<T>(op.x),
                                       cpu.at<T>(op.weight), cpu.at<T>(op.bias), op.D,
                                       static_cast<T>(op.epsilon)});
  });
}

void run(const LayerNormBackward& op, const Cpu& cpu) {
  with_real_type(op.dtype, [&]<class T>(T) {
    const T *x = cpu.at<T>(op.x), *mean = cpu.at<T>(op.mean),
            *inverse_deviation = cpu.at<T>(op.inverse_deviation), *d_y = cpu.at<T>(op.d_y);
    T *d_weight = cpu.at<T>(op.d_weight), *d_bias = cpu.at<T>(op.d_bias);
    if (!op.accumulate) {
      std::fill_n(d_weight, op.D, T{0});
      std::fill_n(d_bias, op.D, T{0});
    }
    // The weight gradients first: d_x may be written over d_y.
    each_column(
        op.rows, op.D, cpu,
        LayerNormWeightGradientKernel<T>{d_weight, d_bias, x, mean, inverse_deviation, d_y, op.D});
    each_row(op.rows, op.D, cpu,
             LayerNormBackwardKernel<T>{cpu.at<T>(op.d_x), x, mean, inverse_deviation,
                                        cpu.at<T>(op.weight), d_y, op.D});
  });
}

void run(const EmbeddingForward& op, const Cpu& cpu) {
  with_real_type(op.dtype, [&]<class T>(T) {
    each_row(op.rows, op.D, cpu,
             EmbeddingForwardKernel<T>{cpu.at<T>(op.x), cpu.at<T>(op.token_table),
                                       cpu.at<T>(op.position_table), cpu.at<std::int32_t>(op.token),
                                       cpu.at<std::int32_t>(op.position), op.D});
  });
}

void run(const ScatterAddRows& op, const Cpu& cpu) {
  with_real_type(op.dtype, [&]<class T>(T) {
    each_column(op.rows, op.D, cpu,
                ScatterAddRowsKernel<T>{cpu.at<T>(op.d_table), cpu.at<T>(op.d_x),
                                        cpu.at<std::int32_t>(op.index), op.D});
  });
}

void run(const CrossEntropyForward& op, const Cpu& cpu) {
  with_real_type(op.dtype, [&]<class T>(T) {
    each_row(op.rows, op.V, cpu,
             CrossEntropyForwardKernel<T>{cpu.at<T>(op.loss), cpu.at<T>(op.log_sum_exp),
                                          cpu.at<T>(op.logits), cpu.at<std::int32_t>(op.target),
                                          cpu.at<T>(op.weight), op.V});
  });
}

void run(const CrossEntropyBackward& op, const Cpu& cpu) {
  with_real_type(op.dtype, [&]<class T>(T) {
    each_row(op.rows, op.V, cpu,
             CrossEntropyBackwardKernel<T>{cpu.at<T>(op.logits), cpu.at<T>(op.log_sum_exp),
                                           cpu.at<std::int32_t>(op.target), cpu.at<T>(op.weight),
                                           static_cast<T>(op.scale), op.V});
  });
}

void run_on_cpu(const Operation& operation, const Cpu& cpu) {
  std::visit([&](const auto& op) { run(op, cpu); }, operation);
}

}  // namespace shardlings
