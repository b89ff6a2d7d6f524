// Judges exercise 01: gradient_norm and clip_gradients, on four small tensors and in training.
#include <algorithm>
#include <cmath>
#include <deque>

#include "lessons/01_training_step/exercise.h"
#include "tests/lessons/01_training_step/support.h"
#include "tests/support/judge.h"

using namespace shardlings;
using namespace shardlings::lesson01;

namespace {

// Sums are taken in double; elements of an f32 gradient are rounded when they are scaled. A factor
// max_norm / (norm + 1e-6), as some frameworks have it, is fine.
constexpr double kNormTolerance = 1e-6, kClipTolerance = 1e-5;

// ---- the case: four tensors ----

struct Subject {
  std::string kind;  // of device
  DType dtype;

  std::string text() const { return fmt::format("{}, device {}", name_of(dtype), kind); }
};

const std::vector<Subject> kSubjects{
    {"cpu", DType::f64}, {"cpu", DType::f32}, {"guarded", DType::f32}};

constexpr std::string_view kText = "gradients of 7, 5x7, 1 and 3x2 elements";

// Pairwise different sizes; the first, the last and the largest are three; the norms differ.
class Tensors {
 public:
  explicit Tensors(const Subject& subject) : test_(subject.kind, subject.dtype, 1) {
    for (const auto& [name, shape] :
         std::vector<std::pair<std::string, Shape>>{{"up.bias", {7}},
                                                    {"up.weight", {5, 7}},
                                                    {"norm.weight", {1}},
                                                    {"wpe.weight", {3, 2}}}) {
      owned_.push_back(whole_parameter(test_.device(), test_.dtype, name, shape, {}));
      initialise(owned_.back(), 1);
      owned_.back().open_gradient();
    }
    for (Parameter& parameter : owned_) {
      parameters.push_back(&parameter);
      set(parameter.value, 3, parameter.name + " value");
      set(parameter.gradient, 1 + 0.5 * static_cast<double>(parameters.size()), parameter.name);
    }
  }

  NamedValues gradients() const { return gradients_of(parameters); }
  NamedValues values() const { return weights_of(parameters); }
  Parameters parameters;

 private:
  static void set(const Tensor& tensor, double deviation, const std::string& name) {
    const RandomStream random(7, name);
    std::vector<double> values(static_cast<std::size_t>(tensor.elements()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = deviation * random.normal(i);
    tensor.from_doubles(values);
  }

  TestDevice test_;
  std::deque<Parameter> owned_;
};

double sum_of(const std::vector<double>& values, double (*function)(double)) {
  double sum = 0;
  for (const double value : values) sum += function(value);
  return sum;
}

double square(double x) {
  return x * x;
}

double norm_of(const std::vector<double>& values) {
  return std::sqrt(sum_of(values, square));
}

double norm_of(const NamedValues& named) {
  double squares = 0;
  for (const auto& [name, values] : named) squares += sum_of(values, square);
  return std::sqrt(squares);
}

NamedValues scaled(NamedValues named, double factor) {
  for (auto& [name, values] : named)
    for (double& value : values) value *= factor;
  return named;
}

NamedValues one(double value) {
  return {{"", {value}}};
}

// ---- what a wrong result may be ----

Clues clues_of_norm(const Tensors& tensors) {
  const NamedValues g = tensors.gradients();
  std::vector<double> all;
  double norms = 0, largest_norm = 0, matrices = 0;
  for (const Parameter* parameter : tensors.parameters) {
    const std::vector<double>& values = g.at(parameter->name);
    all.insert(all.end(), values.begin(), values.end());
    norms += norm_of(values);
    largest_norm = std::max(largest_norm, norm_of(values));
    if (parameter->value.shape().rank() == 2) matrices += sum_of(values, square);
  }
  const double squares = sum_of(all, square);
  const std::string first = tensors.parameters.front()->name;
  const std::string last = tensors.parameters.back()->name;
  return {.letters = {{"elements", static_cast<double>(all.size())},
                      {"tensors", static_cast<double>(tensors.parameters.size())}},
          .equal_to = {
              {"the sum of the squares as it is", one(squares)},
              {"the sum of the tensors' norms", one(norms)},
              {"the largest norm of any tensor", one(largest_norm)},
              {"the largest element", one(largest(all))},
              {"the sum of the absolute values", one(sum_of(all, std::abs))},
              {"the sum of the elements", one(std::abs(sum_of(all, [](double x) { return x; })))},
              {"the norm of the first tensor alone", one(norm_of(g.at(first)))},
              {"the norm of the last tensor alone", one(norm_of(g.at(last)))},
              {"the norm of the matrices alone", one(std::sqrt(matrices))},
              {"the norm of the weights", one(norm_of(tensors.values()))}}};
}

// `g` is longer than max_norm.
Clues clues_of_clipping(const NamedValues& g, double max_norm) {
  const double factor = max_norm / norm_of(g);
  NamedValues one_by_one = g, limited = g, matrices = g;
  for (auto& [name, values] : one_by_one)
    for (const double f = std::min(1.0, max_norm / norm_of(values)); double& value : values)
      value *= f;
  for (auto& [name, values] : limited)
    for (double& value : values) value = std::clamp(value, -max_norm, max_norm);
  for (auto& [name, values] : matrices)
    if (name == "up.weight" || name == "wpe.weight")
      for (double& value : values) value *= factor;
  return {.equal_to = {
              {"the gradients as they came", g},
              {"every tensor shortened to max_norm on its own", one_by_one},
              {"every element limited to max_norm on its own", limited},
              {"the matrices shortened, the vectors as they came", matrices},
              {"the gradients times norm / max_norm", scaled(g, 1 / factor)},
              {"the gradients times (max_norm / norm)^2", scaled(g, square(factor))},
              {"the gradients at length 1, whatever max_norm is", scaled(g, factor / max_norm)},
              {"the gradients times max_norm", scaled(g, max_norm)}}};
}

// ---- step 1.1 ----

void norm_is_of_one_long_vector(Judge& judge) {
  for (const Subject& subject : kSubjects) {
    const Tensors tensors(subject);
    const NamedValues g = tensors.gradients();
    const Clues clues = clues_of_norm(tensors);
    judge.now(fmt::format("{}, {}", kText, subject.text()));
    judge.equal("the norm", gradient_norm(tensors.parameters), norm_of(g), kNormTolerance, clues);
    judge.equal("gradient, which the norm only reads", tensors.gradients(), g, 0, 0);
  }
}

void norm_of_large_elements(Judge& judge) {
  const Tensors tensors({"cpu", DType::f32});
  for (const Parameter* parameter : tensors.parameters) scale(parameter->gradient, 1e25);
  judge.now("elements around 1e25, f32, whose largest number is 3.4e38");
  judge.equal("the norm", gradient_norm(tensors.parameters), norm_of(tensors.gradients()),
              kNormTolerance);
}

// ---- step 1.2 ----

// Calls clip_gradients and watches the weights.
double clip(Judge& judge, const Tensors& tensors, double max_norm) {
  const NamedValues values = tensors.values();
  const double factor = max_norm / norm_of(tensors.gradients());
  const double norm = clip_gradients(tensors.parameters, max_norm);
  judge.equal("weight", tensors.values(), values, 0, 0,
              {.equal_to = {{"the weights times max_norm / norm", scaled(values, factor)}}});
  return norm;
}

// function(tensors, their gradients, a max_norm of that share of their norm), on every device.
void for_shares(Judge& judge, const std::vector<double>& shares,
                const std::function<void(const Tensors&, const NamedValues&, double)>& function) {
  for (const Subject& subject : kSubjects)
    for (const double share : shares) {
      const Tensors tensors(subject);
      const NamedValues g = tensors.gradients();
      const double max_norm = share * norm_of(g);
      judge.now(fmt::format("{}, {}, norm {:.4g}, max_norm {:.4g}", kText, subject.text(),
                            norm_of(g), max_norm));
      function(tensors, g, max_norm);
    }
}

void long_gradients_are_shortened(Judge& judge) {
  for_shares(judge, {0.3, 0.999},
             [&](const Tensors& tensors, const NamedValues& g, double max_norm) {
               clip(judge, tensors, max_norm);
               judge.equal("gradient", tensors.gradients(), scaled(g, max_norm / norm_of(g)),
                           kClipTolerance, 0, clues_of_clipping(g, max_norm));
             });
}

void short_gradients_stay(Judge& judge) {
  for_shares(judge, {1.001, 20},
             [&](const Tensors& tensors, const NamedValues& g, double max_norm) {
               clip(judge, tensors, max_norm);
               judge.equal("gradient", tensors.gradients(), g, 0, 0,
                           {.equal_to = {{"the gradients stretched to length max_norm",
                                          scaled(g, max_norm / norm_of(g))}}});
             });
  for_shares(judge, {1}, [&](const Tensors& tensors, const NamedValues& g, double max_norm) {
    clip(judge, tensors, max_norm);
    judge.equal("gradient", tensors.gradients(), g, kClipTolerance, 0);
  });
}

void zero_switches_clipping_off(Judge& judge) {
  for_shares(judge, {0}, [&](const Tensors& tensors, const NamedValues& g, double max_norm) {
    clip(judge, tensors, max_norm);
    judge.equal("gradient", tensors.gradients(), g, 0, 0);
  });
}

void norm_before_clipping_is_returned(Judge& judge) {
  for_shares(judge, {0.3, 1.001, 0},
             [&](const Tensors& tensors, const NamedValues& g, double max_norm) {
               const double norm = norm_of(g);
               judge.equal("what clip_gradients returns", clip(judge, tensors, max_norm), norm,
                           kNormTolerance,
                           {.equal_to = {{"the norm after clipping", one(max_norm)},
                                         {"the factor", one(max_norm / norm)}}});
             });
}

void nothing_stays_nothing(Judge& judge) {
  const Tensors tensors({"cpu", DType::f64});
  for (const Parameter* parameter : tensors.parameters) fill(parameter->gradient, 0);
  const NamedValues zeros = tensors.gradients();
  judge.now("gradients that are all 0, max_norm 1");
  const double norm = clip(judge, tensors, 1);
  judge.equal("gradient", tensors.gradients(), zeros, 0, 0);
  judge.equal("what clip_gradients returns", norm, 0, 0);
}

void not_a_number_is_told(Judge& judge) {
  const Tensors tensors({"cpu", DType::f32});
  const Tensor gradient = tensors.parameters[1]->gradient;
  std::vector<double> values = gradient.to_doubles();
  values[4] = std::nan("");
  gradient.from_doubles(values);
  judge.now("one element of up.weight's gradient is not a number, max_norm 1");
  const double norm = clip(judge, tensors, 1);
  judge.holds(std::isnan(norm),
              {.quantity = "what clip_gradients returns",
               .expected = "nan",
               .measured = fmt::format("{:.4g}", norm),
               .suggests = "the training run goes on as if nothing had happened"});
}

// ---- both, in training ----

// The plain definition, on the host.
double clip_on_host(const Parameters& parameters, double max_norm) {
  const NamedValues g = gradients_of(parameters);
  const double norm = norm_of(g);
  if (norm > max_norm)
    for (const auto& [name, values] : scaled(g, max_norm / norm))
      (*std::ranges::find(parameters, name, &Parameter::name))->gradient.from_doubles(values);
  return norm;
}

struct Training {
  std::vector<double> norms;
  NamedValues weights;
};

// Three steps of gradient descent: unlike AdamW, it shows by which factor gradients are wrong.
Training train(double (*clip_function)(const Parameters&, double)) {
  const ModelSize size{.L = 2, .D = 12, .H = 3, .T = 7, .V = 11};
  const TestDevice test("cpu", DType::f64, 1);
  Gpt model(test.device(), test.dtype, size, 1);
  const Parameters parameters = model.parameters();
  Training result;
  for (std::uint64_t step = 0; step < 3; ++step) {
    loss_and_gradients(model, random_batch(size, 3, step), test);
    result.norms.push_back(clip_function(parameters, 0.25));
    for (Parameter* parameter : parameters) {
      add_scaled(parameter->value, parameter->gradient, -0.5);
      parameter->clear_gradient();
    }
  }
  result.weights = weights_of(parameters);
  return result;
}

void training_is_the_same(Judge& judge) {
  judge.now("L2 D12 H3 T7 V11, f64, three steps of gradient descent, max_norm 0.25");
  const Training expected = train(clip_on_host), measured = train(clip_gradients);
  judge.equal("norm", {{"the three steps", measured.norms}}, {{"the three steps", expected.norms}},
              kClipTolerance, 0);
  judge.equal("weight", measured.weights, expected.weights, kClipTolerance, 1e-3);
}

}  // namespace

const Exam shardlings::kExam{
    .name = "exercise 01",
    .hint = "./shardlings hint 01",
    .again = "./shardlings check 01",
    .checks = {
        {"1.1", "the norm is that of all gradients as one long vector", norm_is_of_one_long_vector},
        {"1.1", "large elements have a norm, too", norm_of_large_elements},
        {"1.2", "longer gradients are shortened to max_norm", long_gradients_are_shortened},
        {"1.2", "gradients that are short enough stay as they are", short_gradients_stay},
        {"1.2", "with max_norm 0 nothing is clipped", zero_switches_clipping_off},
        {"1.2", "the norm before clipping is returned", norm_before_clipping_is_returned},
        {"1.2", "gradients of zero stay zero", nothing_stays_nothing},
        {"1.2", "a gradient that is not a number is told", not_a_number_is_told},
        {"1.2", "three steps of training give the same weights", training_is_the_same}}};
