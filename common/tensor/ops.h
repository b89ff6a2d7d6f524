// The course's vocabulary of tensor operations: outputs first, then inputs, then numbers.
//
// Each call checks shapes and dtypes, and gives one operation (device/operations.h) to the device's
// compute stream. Outputs exist already; the few functions that make their output return it.
// Errors: Error(broken) that names the operation and both shapes.
//
// Cost: products count 2 m n k FLOPs; everything else moves each operand once and counts no FLOPs.
#pragma once

#include <string_view>

#include "tensor/tensor.h"

namespace shardlings {

// ---- products ----
// The three products take bf16 as well, and add up in f32; their result is bf16 or f32 then. The
// only other operation on bf16 is cast.

// y_RN = x_RM w_MN (+ bias_N), where R are all dimensions of x but the last.
void linear(const Tensor& y, const Tensor& x, const Tensor& w, const Tensor& bias = {});

// y_RN = x_RM w_NM^T: the product with a matrix whose rows are the outputs (a tied output matrix).
void linear_transposed(const Tensor& y, const Tensor& x, const Tensor& w);

// d_w_MN = x_RM^T d_y_RN, summed over all rows R; added to d_w when `accumulate`.
void linear_weight_gradient(const Tensor& d_w, const Tensor& x, const Tensor& d_y, bool accumulate);

// sum_N = sum over rows of x_RN; added to it when `accumulate`.
void column_sum(const Tensor& sum, const Tensor& x, bool accumulate);

// ---- element by element ----

void fill(const Tensor& y, double value);
// y = x, rounded to the nearest value of y's dtype, ties to even. f32, f64 and bf16 in any pairing.
void cast(const Tensor& y, const Tensor& x);
void scale(const Tensor& y, double factor);
void add(const Tensor& z, const Tensor& x, const Tensor& y);
void maximum(const Tensor& z, const Tensor& x, const Tensor& y);  // NaN where one of them is
void add_scaled(const Tensor& y, const Tensor& x, double factor);  // y += factor * x
void gelu(const Tensor& y, const Tensor& x);
void gelu_backward(const Tensor& d_x, const Tensor& x, const Tensor& d_y);

// ---- sums for the host ----

// Added up in double, in an order that depends on the number of elements alone. Waits for the
// device.
double sum(const Tensor& x);
double sum_of_squares(const Tensor& x);

// ---- rows ----

inline constexpr double kLayerNormEpsilon = 1e-5;

// Leaves mean and inverse deviation of each row (one value per row) for backward.
void layer_norm(const Tensor& y, const Tensor& mean, const Tensor& inverse_deviation,
                const Tensor& x, const Tensor& weight, const Tensor& bias);
void layer_norm_backward(const Tensor& d_x, const Tensor& d_weight, const Tensor& d_bias,
                         const Tensor& x, const Tensor& mean, const Tensor& inverse_deviation,
                         const Tensor& weight, const Tensor& d_y, bool accumulate);

// x_RD = token_table_VD[token_R] + position_table_TD[position_R]; indices are i32.
void embedding(const Tensor& x, const Tensor& token_table, const Tensor& position_table,
               const Tensor& token, const Tensor& position);

// d_table[index[r]] += d_x[r]
void scatter_add_rows(const Tensor& d_table, const Tensor& d_x, const Tensor& index);

// loss_R = weight_R * (log_sum_exp_R - logit of target_R)
void cross_entropy(const Tensor& loss, const Tensor& log_sum_exp, const Tensor& logits,
                   const Tensor& target, const Tensor& weight);
// Overwrites the logits with scale * the gradient of the summed loss.
void cross_entropy_backward(const Tensor& logits, const Tensor& log_sum_exp, const Tensor& target,
                            const Tensor& weight, double scale);

// ---- attention ----

// Global positions of the first query and the first key.
struct AttentionOffsets {
  std::int64_t query = 0, key = 0;
};

// Causal attention of H heads. q, o: B x queries x D; k, v: B x keys x D (views of columns are
// fine); log_sum_exp: B x H x queries. `probabilities` (B x H x queries x keys) keeps the scores
// for backward; without it they live in tiles and are computed again.
void attention(const Tensor& o, const Tensor& log_sum_exp, const Tensor& q, const Tensor& k,
               const Tensor& v, std::int64_t H, AttentionOffsets offsets = {},
               const Tensor& probabilities = {});
void attention_backward(const Tensor& d_q, const Tensor& d_k, const Tensor& d_v, const Tensor& q,
                        const Tensor& k, const Tensor& v, const Tensor& o,
                        const Tensor& log_sum_exp, const Tensor& d_o, std::int64_t H,
                        AttentionOffsets offsets = {}, const Tensor& probabilities = {});

// ---- the optimizer ----

struct AdamWSettings {
  double learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8;
  double decay = 0;
  std::int64_t step = 1;  // 1 for the first update
};

// One update of w, m and v from the gradient g.
void adamw(const Tensor& w, const Tensor& m, const Tensor& v, const Tensor& g,
           const AdamWSettings& settings);

// A new contiguous copy with its own storage.
Tensor clone(const Tensor& x, std::string_view owner, Category category = Category::workspace);

}  // namespace shardlings
