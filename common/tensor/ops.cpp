#include "tensor/ops.h"

#include <cmath>

namespace shardlings {

namespace {

void check_same_device(const char* operation, const Tensor& first, const Tensor& other) {
  CHECK(!first.is_empty() && !other.is_empty(), "{}: an operand is missing", operation);
  CHECK(&first.device() == &other.device(), "{}: operands {} and {} lie on two devices", operation,
        first.shape().text(), other.shape().text());
}

void check_same_dtype(const char* operation, const Tensor& first,
                      std::initializer_list<Tensor> others) {
  for (const Tensor& other : others) {
    check_same_device(operation, first, other);
    CHECK(first.dtype() == other.dtype(), "{}: operands are {} of {} and {} of {}", operation,
          first.shape().text(), name_of(first.dtype()), other.shape().text(),
          name_of(other.dtype()));
  }
}

// Every operand of an operation has one real dtype and lies on one device.
void check_alike(const char* operation, const Tensor& first, std::initializer_list<Tensor> others) {
  check_same_device(operation, first, first);
  CHECK(first.dtype() == DType::f32 || first.dtype() == DType::f64,
        "{}: f32 or f64 expected, got {} of {}", operation, first.shape().text(),
        name_of(first.dtype()));
  check_same_dtype(operation, first, others);
}

void check_contiguous(const char* operation, const Tensor& x) {
  CHECK(x.is_contiguous(), "{}: a contiguous tensor expected, got a view of {}", operation,
        x.shape().text());
}

void check_same_shape(const char* operation, const Tensor& first,
                      std::initializer_list<Tensor> others) {
  check_alike(operation, first, others);
  check_contiguous(operation, first);
  for (const Tensor& other : others) {
    check_contiguous(operation, other);
    CHECK(first.shape() == other.shape(), "{}: {} against {}, the same shape expected", operation,
          first.shape().text(), other.shape().text());
  }
}

// `x` lies like a tensor of `shape`.
void check_shape(const char* operation, const Tensor& x, const Shape& shape) {
  check_contiguous(operation, x);
  CHECK(x.elements() == shape.elements(), "{}: {} expected, got {}", operation, shape.text(),
        x.shape().text());
}

// `values` holds one value for each row of the matrix `of`.
void check_per_row(const char* operation, const Tensor& values, const Tensor& of) {
  check_contiguous(operation, values);
  CHECK(values.elements() == of.matrix().rows, "{}: one value per row of {} expected, got {}",
        operation, of.shape().text(), values.shape().text());
}

// `values` holds one value for each column of the matrix `of`.
void check_per_column(const char* operation, const Tensor& values, const Tensor& of) {
  check_contiguous(operation, values);
  CHECK(values.elements() == of.shape().last(), "{}: one value per column of {} expected, got {}",
        operation, of.shape().text(), values.shape().text());
}

// Rows of `table` are as wide as those of `x`.
void check_table(const char* operation, const Tensor& table, const Tensor& x) {
  check_contiguous(operation, table);
  CHECK(table.shape().last() == x.shape().last(), "{}: rows of {} and a table of {}", operation,
        x.shape().text(), table.shape().text());
}

void check_indices(const char* operation, const Tensor& indices, const Tensor& of) {
  check_same_device(operation, of, indices);
  CHECK(indices.dtype() == DType::i32, "{}: indices {} are i32, got {}", operation,
        indices.shape().text(), name_of(indices.dtype()));
  check_per_row(operation, indices, of);
}

const std::int32_t* indices(const Tensor& x) {
  return static_cast<const std::int32_t*>(x.data());
}

// As check_alike, and a product of bf16 gives bf16 or f32.
void check_factors(const char* operation, const Tensor& c, const Tensor& a, const Tensor& b) {
  check_same_device(operation, c, a);
  if (a.dtype() == DType::bf16 && (c.dtype() == DType::bf16 || c.dtype() == DType::f32))
    check_same_dtype(operation, a, {b});
  else
    check_alike(operation, c, {a, b});
}

void check_product(const char* operation, const MatrixRef& c, std::int64_t rows,
                   std::int64_t columns, std::int64_t inner_a, std::int64_t inner_b) {
  CHECK(inner_a == inner_b && c.rows == rows && c.columns == columns,
        "{}: ({} x {}) times ({} x {}) does not give {} x {}", operation, rows, inner_a, inner_b,
        columns, c.rows, c.columns);
}

double sum_on_host(const char* operation, const Tensor& x, bool squares) {
  check_same_shape(operation, x, {});
  const Tensor result(x.device(), DType::f64, {1}, "sum");
  x.device().launch(Sum{.dtype = x.dtype(),
                        .sum = static_cast<double*>(result.data()),
                        .x = x.data(),
                        .count = x.elements(),
                        .squares = squares});
  return result.to_double();
}

TokensRef tokens(const Tensor& x) {
  return {x.data(), x.stride()};
}

AttentionSizes attention_sizes(const char* operation, const Tensor& q, const Tensor& k,
                               std::int64_t H, AttentionOffsets offsets) {
  CHECK(q.shape().rank() == 3 && k.shape().rank() == 3 && q.size(0) == k.size(0) &&
            q.size(2) == k.size(2),
        "{}: B x tokens x D expected, got queries {} and keys {}", operation, q.shape().text(),
        k.shape().text());
  CHECK(H >= 1 && q.size(2) % H == 0, "{}: the width of {} is not divisible by {} heads", operation,
        q.shape().text(), H);
  const std::int64_t K = q.size(2) / H;
  return {.B = q.size(0),
          .query_tokens = q.size(1),
          .key_tokens = k.size(1),
          .H = H,
          .K = K,
          .query_offset = offsets.query,
          .key_offset = offsets.key,
          .scale = 1 / std::sqrt(static_cast<double>(K))};
}

void check_attention_outputs(const char* operation, const AttentionSizes& sizes,
                             const Tensor& log_sum_exp, const Tensor& probabilities) {
  check_shape(operation, log_sum_exp, {sizes.B, sizes.H, sizes.query_tokens});
  if (probabilities.is_empty()) return;
  check_alike(operation, log_sum_exp, {probabilities});
  check_shape(operation, probabilities, {sizes.B, sizes.H, sizes.query_tokens, sizes.key_tokens});
}

void* data_or_null(const Tensor& x) {
  return x.is_empty() ? nullptr : x.data();
}

}  // namespace

void linear(const Tensor& y, const Tensor& x, const Tensor& w, const Tensor& bias) {
  check_factors("linear", y, x, w);
  const MatrixRef c = y.matrix(), a = x.matrix(), b = w.matrix();
  check_product("linear", c, a.rows, b.columns, a.columns, b.rows);
  if (!bias.is_empty()) {
    check_same_dtype("linear", w, {bias});
    check_per_column("linear", bias, w);
  }
  y.device().launch(Matmul{.dtype = w.dtype(),
                           .c_dtype = y.dtype(),
                           .c = c,
                           .a = a,
                           .b = b,
                           .bias = data_or_null(bias)});
}

void linear_transposed(const Tensor& y, const Tensor& x, const Tensor& w) {
  check_factors("linear_transposed", y, x, w);
  const MatrixRef c = y.matrix(), a = x.matrix(), b = w.matrix();
  check_product("linear_transposed", c, a.rows, b.rows, a.columns, b.columns);
  y.device().launch(Matmul{
      .dtype = w.dtype(), .c_dtype = y.dtype(), .c = c, .a = a, .b = b, .transpose_b = true});
}

void linear_weight_gradient(const Tensor& d_w, const Tensor& x, const Tensor& d_y,
                            bool accumulate) {
  check_factors("linear_weight_gradient", d_w, x, d_y);
  const MatrixRef c = d_w.matrix(), a = x.matrix(), b = d_y.matrix();
  check_product("linear_weight_gradient", c, a.columns, b.columns, a.rows, b.rows);
  d_w.device().launch(Matmul{.dtype = x.dtype(),
                             .c_dtype = d_w.dtype(),
                             .c = c,
                             .a = a,
                             .b = b,
                             .transpose_a = true,
                             .accumulate = accumulate});
}

void column_sum(const Tensor& sum, const Tensor& x, bool accumulate) {
  check_alike("column_sum", sum, {x});
  check_per_column("column_sum", sum, x);
  sum.device().launch(ColumnSum{
      .dtype = sum.dtype(), .sum = sum.data(), .x = x.matrix(), .accumulate = accumulate});
}

void fill(const Tensor& y, double value) {
  check_same_shape("fill", y, {});
  y.device().launch(Fill{.dtype = y.dtype(), .y = y.data(), .value = value, .count = y.elements()});
}

void cast(const Tensor& y, const Tensor& x) {
  check_same_device("cast", y, x);
  for (const Tensor& t : {y, x})
    CHECK(t.dtype() != DType::i32, "cast: f32, f64 or bf16 expected, got {} of i32",
          t.shape().text());
  check_contiguous("cast", y);
  check_shape("cast", x, y.shape());
  y.device().launch(Cast{.y_dtype = y.dtype(),
                         .x_dtype = x.dtype(),
                         .y = y.data(),
                         .x = x.data(),
                         .count = y.elements()});
}

void scale(const Tensor& y, double factor) {
  check_same_shape("scale", y, {});
  y.device().launch(
      Scale{.dtype = y.dtype(), .y = y.data(), .factor = factor, .count = y.elements()});
}

void add(const Tensor& z, const Tensor& x, const Tensor& y) {
  check_same_shape("add", z, {x, y});
  z.device().launch(
      Add{.dtype = z.dtype(), .z = z.data(), .x = x.data(), .y = y.data(), .count = z.elements()});
}

void maximum(const Tensor& z, const Tensor& x, const Tensor& y) {
  check_same_shape("maximum", z, {x, y});
  z.device().launch(
      Maximum{.dtype = z.dtype(), .z = z.data(), .x = x.data(), .y = y.data(), .count = z.elements()});
}

void add_scaled(const Tensor& y, const Tensor& x, double factor) {
  check_same_shape("add_scaled", y, {x});
  y.device().launch(AddScaled{
      .dtype = y.dtype(), .y = y.data(), .x = x.data(), .factor = factor, .count = y.elements()});
}

void gelu(const Tensor& y, const Tensor& x) {
  check_same_shape("gelu", y, {x});
  y.device().launch(
      GeluForward{.dtype = y.dtype(), .y = y.data(), .x = x.data(), .count = y.elements()});
}

void gelu_backward(const Tensor& d_x, const Tensor& x, const Tensor& d_y) {
  check_same_shape("gelu_backward", d_x, {x, d_y});
  d_x.device().launch(GeluBackward{.dtype = d_x.dtype(),
                                   .d_x = d_x.data(),
                                   .x = x.data(),
                                   .d_y = d_y.data(),
                                   .count = d_x.elements()});
}

double sum(const Tensor& x) {
  return sum_on_host("sum", x, false);
}

double sum_of_squares(const Tensor& x) {
  return sum_on_host("sum_of_squares", x, true);
}

void layer_norm(const Tensor& y, const Tensor& mean, const Tensor& inverse_deviation,
                const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check_same_shape("layer_norm", y, {x});
  check_alike("layer_norm", y, {mean, inverse_deviation, weight, bias});
  check_per_row("layer_norm", mean, x);
  check_per_row("layer_norm", inverse_deviation, x);
  check_per_column("layer_norm", weight, x);
  check_per_column("layer_norm", bias, x);
  y.device().launch(LayerNormForward{.dtype = y.dtype(),
                                     .y = y.data(),
                                     .mean = mean.data(),
                                     .inverse_deviation = inverse_deviation.data(),
                                     .x = x.data(),
                                     .weight = weight.data(),
                                     .bias = bias.data(),
                                     .rows = x.matrix().rows,
                                     .D = x.shape().last(),
                                     .epsilon = kLayerNormEpsilon});
}

void layer_norm_backward(const Tensor& d_x, const Tensor& d_weight, const Tensor& d_bias,
                         const Tensor& x, const Tensor& mean, const Tensor& inverse_deviation,
                         const Tensor& weight, const Tensor& d_y, bool accumulate) {
  check_same_shape("layer_norm_backward", d_x, {x, d_y});
  check_alike("layer_norm_backward", d_x, {d_weight, d_bias, mean, inverse_deviation, weight});
  check_per_row("layer_norm_backward", mean, x);
  check_per_row("layer_norm_backward", inverse_deviation, x);
  for (const Tensor& vector : {d_weight, d_bias, weight})
    check_per_column("layer_norm_backward", vector, x);
  d_x.device().launch(LayerNormBackward{.dtype = d_x.dtype(),
                                        .d_x = d_x.data(),
                                        .d_weight = d_weight.data(),
                                        .d_bias = d_bias.data(),
                                        .x = x.data(),
                                        .mean = mean.data(),
                                        .inverse_deviation = inverse_deviation.data(),
                                        .weight = weight.data(),
                                        .d_y = d_y.data(),
                                        .rows = x.matrix().rows,
                                        .D = x.shape().last(),
                                        .accumulate = accumulate});
}

void embedding(const Tensor& x, const Tensor& token_table, const Tensor& position_table,
               const Tensor& token, const Tensor& position) {
  check_alike("embedding", x, {token_table, position_table});
  check_contiguous("embedding", x);
  for (const Tensor& table : {token_table, position_table}) check_table("embedding", table, x);
  check_indices("embedding", token, x);
  check_indices("embedding", position, x);
  x.device().launch(EmbeddingForward{.dtype = x.dtype(),
                                     .x = x.data(),
                                     .token_table = token_table.data(),
                                     .position_table = position_table.data(),
                                     .token = indices(token),
                                     .position = indices(position),
                                     .rows = x.matrix().rows,
                                     .D = x.shape().last()});
}

void scatter_add_rows(const Tensor& d_table, const Tensor& d_x, const Tensor& index) {
  check_alike("scatter_add_rows", d_table, {d_x});
  check_contiguous("scatter_add_rows", d_x);
  check_table("scatter_add_rows", d_table, d_x);
  check_indices("scatter_add_rows", index, d_x);
  d_table.device().launch(ScatterAddRows{.dtype = d_table.dtype(),
                                         .d_table = d_table.data(),
                                         .d_x = d_x.data(),
                                         .index = indices(index),
                                         .rows = d_x.matrix().rows,
                                         .D = d_x.shape().last()});
}

void cross_entropy(const Tensor& loss, const Tensor& log_sum_exp, const Tensor& logits,
                   const Tensor& target, const Tensor& weight) {
  check_alike("cross_entropy", logits, {loss, log_sum_exp, weight});
  check_contiguous("cross_entropy", logits);
  for (const Tensor& per_row : {loss, log_sum_exp, weight})
    check_per_row("cross_entropy", per_row, logits);
  check_indices("cross_entropy", target, logits);
  logits.device().launch(CrossEntropyForward{.dtype = logits.dtype(),
                                             .loss = loss.data(),
                                             .log_sum_exp = log_sum_exp.data(),
                                             .logits = logits.data(),
                                             .target = indices(target),
                                             .weight = weight.data(),
                                             .rows = logits.matrix().rows,
                                             .V = logits.shape().last()});
}

void cross_entropy_backward(const Tensor& logits, const Tensor& log_sum_exp, const Tensor& target,
                            const Tensor& weight, double scale) {
  check_alike("cross_entropy_backward", logits, {log_sum_exp, weight});
  check_contiguous("cross_entropy_backward", logits);
  check_per_row("cross_entropy_backward", log_sum_exp, logits);
  check_per_row("cross_entropy_backward", weight, logits);
  check_indices("cross_entropy_backward", target, logits);
  logits.device().launch(CrossEntropyBackward{.dtype = logits.dtype(),
                                              .logits = logits.data(),
                                              .log_sum_exp = log_sum_exp.data(),
                                              .target = indices(target),
                                              .weight = weight.data(),
                                              .scale = scale,
                                              .rows = logits.matrix().rows,
                                              .V = logits.shape().last()});
}

void attention(const Tensor& o, const Tensor& log_sum_exp, const Tensor& q, const Tensor& k,
               const Tensor& v, std::int64_t H, AttentionOffsets offsets,
               const Tensor& probabilities) {
  check_alike("attention", o, {log_sum_exp, q, k, v});
  const AttentionSizes sizes = attention_sizes("attention", q, k, H, offsets);
  CHECK(o.shape() == q.shape() && v.shape() == k.shape(),
        "attention: o {} against q {}, v {} against k {}", o.shape().text(), q.shape().text(),
        v.shape().text(), k.shape().text());
  check_attention_outputs("attention", sizes, log_sum_exp, probabilities);
  o.device().launch(AttentionForward{.dtype = o.dtype(),
                                     .sizes = sizes,
                                     .o = tokens(o),
                                     .log_sum_exp = log_sum_exp.data(),
                                     .probabilities = data_or_null(probabilities),
                                     .q = tokens(q),
                                     .k = tokens(k),
                                     .v = tokens(v)});
}

void attention_backward(const Tensor& d_q, const Tensor& d_k, const Tensor& d_v, const Tensor& q,
                        const Tensor& k, const Tensor& v, const Tensor& o,
                        const Tensor& log_sum_exp, const Tensor& d_o, std::int64_t H,
                        AttentionOffsets offsets, const Tensor& probabilities) {
  check_alike("attention_backward", q, {d_q, d_k, d_v, k, v, o, log_sum_exp, d_o});
  const AttentionSizes sizes = attention_sizes("attention_backward", q, k, H, offsets);
  for (const Tensor& of_query : {d_q, o, d_o})
    CHECK(of_query.shape() == q.shape(), "attention_backward: {} against queries {}",
          of_query.shape().text(), q.shape().text());
  for (const Tensor& of_key : {d_k, d_v, v})
    CHECK(of_key.shape() == k.shape(), "attention_backward: {} against keys {}",
          of_key.shape().text(), k.shape().text());
  check_attention_outputs("attention_backward", sizes, log_sum_exp, probabilities);
  q.device().launch(AttentionBackward{.dtype = q.dtype(),
                                      .sizes = sizes,
                                      .d_q = tokens(d_q),
                                      .d_k = tokens(d_k),
                                      .d_v = tokens(d_v),
                                      .q = tokens(q),
                                      .k = tokens(k),
                                      .v = tokens(v),
                                      .o = tokens(o),
                                      .d_o = tokens(d_o),
                                      .log_sum_exp = log_sum_exp.data(),
                                      .probabilities = data_or_null(probabilities)});
}

void adamw(const Tensor& w, const Tensor& m, const Tensor& v, const Tensor& g,
           const AdamWSettings& settings) {
  check_same_shape("adamw", w, {m, v, g});
  CHECK(settings.step >= 1, "adamw: the first update is step 1, got {}", settings.step);
  w.device().launch(AdamW{.dtype = w.dtype(),
                          .w = w.data(),
                          .m = m.data(),
                          .v = v.data(),
                          .g = g.data(),
                          .count = w.elements(),
                          .learning_rate = settings.learning_rate,
                          .beta1 = settings.beta1,
                          .beta2 = settings.beta2,
                          .epsilon = settings.epsilon,
                          .decay = settings.decay,
                          .step = settings.step});
}

Tensor clone(const Tensor& x, std::string_view owner, Category category) {
  check_same_shape("clone", x, {});
  Tensor copy(x.device(), x.dtype(), x.shape(), owner, category);
  cast(copy, x);
  return copy;
}

}  // namespace shardlings
