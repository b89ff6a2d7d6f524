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

// Sums over rows, per column: rows are added to a part per chunk of rows, in order, then the parts
// to the result, in order.
template <class T>
class RowSums {
 public:
  // add_row(r, part) adds row r to part[0 ... columns).
  template <class AddRow>
  RowSums(std::int64_t rows, std::int64_t columns, const Cpu& cpu, const AddRow& add_row)
      : chunks_((rows + kRowsPerChunk - 1) / kRowsPerChunk), columns_(columns) {
    // The calling thread's, kept from call to call.
    thread_local std::vector<T> memory;
    memory.assign(static_cast<std::size_t>(chunks_ * columns), T{0});
    parts_ = memory.data();
    parallel_for(cpu, chunks_, [&](std::int64_t chunk) {
      const std::int64_t end = std::min(rows, (chunk + 1) * kRowsPerChunk);
      for (std::int64_t r = chunk * kRowsPerChunk; r < end; ++r)
        add_row(r, parts_ + chunk * columns);
    });
  }

  // sums[c] = the sum of column first + c, or += it, for 0 <= c < count.
  void write(T* sums, std::int64_t first, std::int64_t count, bool accumulate) const {
    if (!accumulate) std::fill_n(sums, count, T{0});
    for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) {
      const T* part = parts_ + chunk * columns_ + first;
      CpuRow{}.each(count, [=](std::int64_t c) { sums[c] += part[c]; });
    }
  }

 private:
  static constexpr std::int64_t kRowsPerChunk = 64;
  std::int64_t chunks_, columns_;
  T* parts_;
};

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

void run(const Cast& op, const Cpu& cpu) {
  with_real_or_bf16(op.y_dtype, [&]<class To>(To) {
    with_real_or_bf16(op.x_dtype, [&]<class From>(From) {
      each_element(op.count, cpu, CastKernel<To, From>{cpu.at<To>(op.y), cpu.at<From>(op.x)});
    });
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

void run(const Maximum& op, const Cpu& cpu) {
  with_real_type(op.dtype, [&]<class T>(T) {
    each_element(op.count, cpu,
                 MaximumKernel<T>{cpu.at<T>(op.z), cpu.at<T>(op.x), cpu.at<T>(op.y)});
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
    const T* x = cpu.at<T>(op.x.data);
    const std::int64_t columns = op.x.columns, stride = op.x.stride;
    const RowSums<T> sums(op.x.rows, columns, cpu, [=](std::int64_t r, T* part) {
      const ColumnSumKernel<T> kernel{part, x, stride};
      CpuRow{}.each(columns, [=](std::int64_t c) { kernel(r, c); });
    });
    sums.write(cpu.at<T>(op.sum), 0, columns, op.accumulate);
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
    const std::int64_t D = op.D;
    const LayerNormBackwardKernel<T> to_d_x{cpu.at<T>(op.d_x),    x,   mean, inverse_deviation,
                                            cpu.at<T>(op.weight), d_y, D};
    const RowSums<T> sums(op.rows, 2 * D, cpu, [=](std::int64_t r, T* part) {
      // The weight gradients first: d_x may be written over d_y.
      const LayerNormWeightGradientKernel<T> to_part{part, part + D, x, mean, inverse_deviation,
                                                     d_y,  D};
      CpuRow{}.each(D, [=](std::int64_t c) { to_part(r, c); });
      to_d_x(r, CpuRow{});
    });
    sums.write(cpu.at<T>(op.d_weight), 0, D, op.accumulate);
    sums.write(cpu.at<T>(op.d_bias), D, D, op.accumulate);
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
