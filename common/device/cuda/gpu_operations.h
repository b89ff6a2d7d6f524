// Every operation but products and attention, as the launches that a GPU makes of it.
//
// `Gpu` is who launches: the CUDA device, or, in tests, an emulation on the CPU. It offers
//   elements(count, kernel)          kernel(i) for every i, in any order
//   rows(rows, kernel)               kernel(r, row) for every row, in any order
//   scratch<T>(count)                memory until the next scratch() of the same stream
// one after the other in the order of the stream. No launch adds to memory that another thread of
// it adds to: results do not depend on the order in which threads run.
#pragma once

#include "device/cuda/launch.h"
#include "device/kernels.h"

namespace shardlings {

// ---- sums over rows ----
// Rows are added up in chunks of kRowsPerChunk, in order, one thread per chunk and column; then the
// chunks of a column, in order.

inline constexpr std::int64_t kRowsPerChunk = 64;

inline std::int64_t chunks_of(std::int64_t rows) {
  return (rows + kRowsPerChunk - 1) / kRowsPerChunk;
}

// parts[chunk, c] = the sum of the chunk's rows of x.
template <class T>
struct ColumnSumChunkKernel {
  T* parts;
  const T* x;
  std::int64_t rows, columns, stride;

  SHARDLINGS_KERNEL void operator()(std::int64_t i) const {
    const std::int64_t chunk = i / columns, c = i % columns, begin = chunk * kRowsPerChunk;
    const std::int64_t end = begin + kRowsPerChunk < rows ? begin + kRowsPerChunk : rows;
    T* part = parts + chunk * columns;
    part[c] = 0;
    const ColumnSumKernel<T> add_row{part, x, stride};
    for (std::int64_t r = begin; r < end; ++r) add_row(r, c);
  }
};

// The same for both gradients of a layer norm.
template <class T>
struct LayerNormChunkKernel {
  T *weight_parts, *bias_parts;
  const T *x, *mean, *inverse_deviation, *d_y;
  std::int64_t rows, D;

  SHARDLINGS_KERNEL void operator()(std::int64_t i) const {
    const std::int64_t chunk = i / D, c = i % D, begin = chunk * kRowsPerChunk;
    const std::int64_t end = begin + kRowsPerChunk < rows ? begin + kRowsPerChunk : rows;
    T *weight_part = weight_parts + chunk * D, *bias_part = bias_parts + chunk * D;
    weight_part[c] = 0;
    bias_part[c] = 0;
    const LayerNormWeightGradientKernel<T> add_row{weight_part,       bias_part, x, mean,
                                                   inverse_deviation, d_y,       D};
    for (std::int64_t r = begin; r < end; ++r) add_row(r, c);
  }
};

// sum[c] = the sum of the column's parts, or += it.
template <class T>
struct AddChunksKernel {
  T* sum;
  const T* parts;
  std::int64_t chunks, columns;
  bool accumulate;

  SHARDLINGS_KERNEL void operator()(std::int64_t c) const {
    T total = accumulate ? sum[c] : T{0};
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) total += parts[chunk * columns + c];
    sum[c] = total;
  }
};

// One thread per column takes all rows in order: equal indices meet in no other thread.
template <class T>
struct ScatterAddColumnKernel {
  ScatterAddRowsKernel<T> add_row;
  std::int64_t rows;

  SHARDLINGS_KERNEL void operator()(std::int64_t c) const {
    for (std::int64_t r = 0; r < rows; ++r) add_row(r, c);
  }
};

// ---- sums of everything ----

// sums[r] = the sum of `width` elements from r * width on, of their squares if asked for.
template <class T>
struct PartialSumKernel {
  double* sums;
  const T* x;
  std::int64_t count, width;
  bool squares;

  template <class Row>
  SHARDLINGS_KERNEL void operator()(std::int64_t r, const Row& row) const {
    const T* part = x + r * width;
    const std::int64_t left = count - r * width;
    const bool squared = squares;
    sums[r] = row.sum(left < width ? left : width, [=](std::int64_t i) {
      const double value = part[i];
      return squared ? value * value : value;
    });
  }
};

// ---- operations ----

template <class T>
T* as(void* address) {
  return static_cast<T*>(address);
}
template <class T>
const T* as(const void* address) {
  return static_cast<const T*>(address);
}

template <class Gpu>
void run(const Fill& op, Gpu& gpu) {
  with_real_type(op.dtype, [&]<class T>(T) {
    gpu.elements(op.count, FillKernel<T>{as<T>(op.y), static_cast<T>(op.value)});
  });
}

template <class Gpu>
void run(const Cast& op, Gpu& gpu) {
  with_real_or_bf16(op.y_dtype, [&]<class To>(To) {
    with_real_or_bf16(op.x_dtype, [&]<class From>(From) {
      gpu.elements(op.count, CastKernel<To, From>{as<To>(op.y), as<From>(op.x)});
    });
  });
}

template <class Gpu>
void run(const Scale& op, Gpu& gpu) {
  with_real_type(op.dtype, [&]<class T>(T) {
    gpu.elements(op.count, ScaleKernel<T>{as<T>(op.y), static_cast<T>(op.factor)});
  });
}

template <class Gpu>
void run(const Add& op, Gpu& gpu) {
  with_real_type(op.dtype, [&]<class T>(T) {
    gpu.elements(op.count, AddKernel<T>{as<T>(op.z), as<T>(op.x), as<T>(op.y)});
  });
}

template <class Gpu>
void run(const Maximum& op, Gpu& gpu) {
  with_real_type(op.dtype, [&]<class T>(T) {
    gpu.elements(op.count, MaximumKernel<T>{as<T>(op.z), as<T>(op.x), as<T>(op.y)});
  });
}

template <class Gpu>
void run(const AddScaled& op, Gpu& gpu) {
  with_real_type(op.dtype, [&]<class T>(T) {
    gpu.elements(op.count, AddScaledKernel<T>{as<T>(op.y), as<T>(op.x), static_cast<T>(op.factor)});
  });
}

template <class Gpu>
void run(const Sum& op, Gpu& gpu) {
  constexpr std::int64_t kWidth = 4096;
  const std::int64_t parts = (op.count + kWidth - 1) / kWidth;
  double* sums = gpu.template scratch<double>(parts);
  with_real_type(op.dtype, [&]<class T>(T) {
    gpu.rows(parts, PartialSumKernel<T>{sums, as<T>(op.x), op.count, kWidth, op.squares});
  });
  gpu.rows(1, PartialSumKernel<double>{op.sum, sums, parts, parts, false});
}

template <class Gpu>
void run(const GeluForward& op, Gpu& gpu) {
  with_real_type(op.dtype, [&]<class T>(T) {
    gpu.elements(op.count, GeluForwardKernel<T>{as<T>(op.y), as<T>(op.x)});
  });
}

template <class Gpu>
void run(const GeluBackward& op, Gpu& gpu) {
  with_real_type(op.dtype, [&]<class T>(T) {
    gpu.elements(op.count, GeluBackwardKernel<T>{as<T>(op.d_x), as<T>(op.x), as<T>(op.d_y)});
  });
}

template <class Gpu>
void run(const AdamW& op, Gpu& gpu) {
  with_real_type(op.dtype, [&]<class T>(T) { gpu.elements(op.count, AdamWKernel<T>(op)); });
}

template <class Gpu>
void run(const ColumnSum& op, Gpu& gpu) {
  with_real_type(op.dtype, [&]<class T>(T) {
    const auto [data, rows, columns, stride] = op.x;
    const std::int64_t chunks = chunks_of(rows);
    T* parts = gpu.template scratch<T>(chunks * columns);
    gpu.elements(chunks * columns,
                 ColumnSumChunkKernel<T>{parts, as<T>(data), rows, columns, stride});
    gpu.elements(columns, AddChunksKernel<T>{as<T>(op.sum), parts, chunks, columns, op.accumulate});
  });
}

template <class Gpu>
void run(const LayerNormForward& op, Gpu& gpu) {
  with_real_type(op.dtype, [&]<class T>(T) {
    gpu.rows(op.rows, LayerNormForwardKernel<T>{
                          as<T>(op.y), as<T>(op.mean), as<T>(op.inverse_deviation), as<T>(op.x),
                          as<T>(op.weight), as<T>(op.bias), op.D, static_cast<T>(op.epsilon)});
  });
}

template <class Gpu>
void run(const LayerNormBackward& op, Gpu& gpu) {
  with_real_type(op.dtype, [&]<class T>(T) {
    const T *x = as<T>(op.x), *mean = as<T>(op.mean),
            *inverse_deviation = as<T>(op.inverse_deviation), *d_y = as<T>(op.d_y);
    const std::int64_t D = op.D, chunks = chunks_of(op.rows);
    T* weight_parts = gpu.template scratch<T>(2 * chunks * D);
    T* bias_parts = weight_parts + chunks * D;
    // The weight gradients first: d_x may be written over d_y.
    gpu.elements(chunks * D, LayerNormChunkKernel<T>{weight_parts, bias_parts, x, mean,
                                                     inverse_deviation, d_y, op.rows, D});
    gpu.elements(D, AddChunksKernel<T>{as<T>(op.d_weight), weight_parts, chunks, D, op.accumulate});
    gpu.elements(D, AddChunksKernel<T>{as<T>(op.d_bias), bias_parts, chunks, D, op.accumulate});
    gpu.rows(op.rows, LayerNormBackwardKernel<T>{as<T>(op.d_x), x, mean, inverse_deviation,
                                                 as<T>(op.weight), d_y, D});
  });
}

template <class Gpu>
void run(const EmbeddingForward& op, Gpu& gpu) {
  with_real_type(op.dtype, [&]<class T>(T) {
    gpu.rows(op.rows,
             EmbeddingForwardKernel<T>{as<T>(op.x), as<T>(op.token_table), as<T>(op.position_table),
                                       op.token, op.position, op.D});
  });
}

template <class Gpu>
void run(const ScatterAddRows& op, Gpu& gpu) {
  with_real_type(op.dtype, [&]<class T>(T) {
    gpu.elements(op.D, ScatterAddColumnKernel<T>{{as<T>(op.d_table), as<T>(op.d_x), op.index, op.D},
                                                 op.rows});
  });
}

template <class Gpu>
void run(const CrossEntropyForward& op, Gpu& gpu) {
  with_real_type(op.dtype, [&]<class T>(T) {
    gpu.rows(op.rows,
             CrossEntropyForwardKernel<T>{as<T>(op.loss), as<T>(op.log_sum_exp), as<T>(op.logits),
                                          op.target, as<T>(op.weight), op.V});
  });
}

template <class Gpu>
void run(const CrossEntropyBackward& op, Gpu& gpu) {
  with_real_type(op.dtype, [&]<class T>(T) {
    gpu.rows(op.rows,
             CrossEntropyBackwardKernel<T>{as<T>(op.logits), as<T>(op.log_sum_exp), op.target,
                                           as<T>(op.weight), static_cast<T>(op.scale), op.V});
  });
}

}  // namespace shardlings
