// Judges exercise 03: segments, and the two passes of a layer that keeps its input alone, on two
// blocks of a model.
#include <fmt/format.h>

#include "lessons/03_checkpointing/exercise.h"
#include "lessons/03_checkpointing/recomputed.h"
#include "tests/lessons/01_training_step/support.h"
#include "tests/support/judge.h"

using namespace shardlings;
using namespace shardlings::lesson01;
using namespace shardlings::lesson03;

namespace {

// ---- step 3.1 ----

using Segments = std::vector<Segment>;
using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

Segments cut(std::int64_t L, std::int64_t k) {
  Segments result;
  for (std::int64_t first = 0; first < L; first += k)
    result.push_back({first, std::min(k, L - first)});
  return result;
}

std::string text(const Segments& segments) {
  std::string result;
  for (const Segment& s : segments) result += fmt::format(" {}+{}", s.first, s.count);
  return segments.empty() ? "none" : result.substr(1);
}

// What `wrong` looks like beside the right cut of L by k.
std::string suggestion(const Segments& wrong, std::int64_t L, std::int64_t k) {
  const Segments right = cut(L, k);
  Segments without_last = right, too_long = right, from_one = right;
  without_last.pop_back();
  too_long.back().count = k;
  for (Segment& segment : from_one) ++segment.first;
  Segments short_one_first;
  for (auto segment = right.rbegin(); segment != right.rend(); ++segment)
    short_one_first.push_back({L - segment->first - segment->count, segment->count});
  const std::vector<std::pair<std::string, Segments>> known{
      {"the short segment at the end is missing", without_last},
      {"the last segment goes past the last block", too_long},
      {"blocks are counted from 0", from_one},
      {"the short segment comes last", short_one_first},
      {"all blocks are one segment", {{0, L}}},
      {"every block is a segment of its own", cut(L, 1)},
      {"k segments, where segments of k were asked for", cut(L, (L + k - 1) / k)}};
  for (const auto& [meaning, segments] : known)
    if (wrong == segments) return meaning;
  return "";
}

void check_cut(Judge& judge, std::int64_t L, std::int64_t k) {
  judge.now(fmt::format("{} blocks in segments of {}", L, k));
  const Segments measured = segments(L, k), expected = cut(L, k);
  judge.holds(measured == expected, {.quantity = "first+count of each segment",
                                     .expected = text(expected),
                                     .measured = text(measured),
                                     .suggests = suggestion(measured, L, k)});
}

void k_divides(Judge& judge) {
  for (const auto& [L, k] : Pairs{{12, 3}, {12, 2}, {4, 1}, {1, 1}, {7, 7}}) check_cut(judge, L, k);
}

void k_does_not_divide(Judge& judge) {
  for (const auto& [L, k] : Pairs{{11, 4}, {7, 2}, {5, 3}, {3, 8}}) check_cut(judge, L, k);
}

// ---- steps 3.2 and 3.3: two blocks ----

struct Subject {
  std::string kind;  // of device
  DType dtype;
};

const std::vector<Subject> kSubjects{
    {"cpu", DType::f64}, {"cpu", DType::f32}, {"guarded", DType::f32}};

constexpr ModelSize kSize{.L = 2, .D = 12, .H = 3, .T = 7, .V = 11};
constexpr std::int64_t kSequences = 2;

// A layer of two blocks with its input and the gradient of its output, on a device of its own.
struct Case {
  explicit Case(const Subject& subject) : test(subject.kind, subject.dtype, 1) {
    for (const char* name : {"h.0", "h.1"})
      layer.layers().push_back(
          std::make_unique<Block>(LayerContext{test.device(), test.dtype, name}, kSize));
    layer.visit([&](Parameter& parameter) {
      initialise(parameter, 3);
      parameters.push_back(&parameter);
    });
    make_uneven(parameters);
    x = tensor("x");
    d_y = tensor("d_y");
  }

  Tensor tensor(const std::string& name) const {
    const RandomStream random(5, name);
    Tensor result(test.device(), test.dtype, {kSequences, kSize.T, kSize.D}, name);
    std::vector<double> values(static_cast<std::size_t>(result.elements()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = random.normal(i);
    result.from_doubles(values);
    return result;
  }

  double held_bytes() const {
    return static_cast<double>(test.memory.now()[Category::activations]);
  }

  TestDevice test;
  Sequential layer;
  Parameters parameters;
  Tensor x, d_y;
  SavedTensors saved;
  WeightGradients weights;
};

NamedValues gradients(const Case& c, const Tensor& d_x) {
  NamedValues all = gradients_of(c.parameters);
  all["the input"] = d_x.to_doubles();
  return all;
}

// What the layer does without recomputation, from x or from another tensor of its shape.
struct Plain {
  explicit Plain(const Subject& subject) : Plain(subject, [](Case& c) { return c.x; }) {}
  template <class Input>
  Plain(const Subject& subject, const Input& input) {
    Case c(subject);
    const Tensor x = input(c);
    const Work before = c.test.work.total();
    const Tensor y = c.layer.forward(x, c.saved);
    forward = c.test.work.total() - before;
    y_values = y.to_doubles();
    saved_bytes = c.held_bytes();
    gradients_of_all = gradients(c, c.layer.backward(c.d_y, c.saved, c.weights));
    both = c.test.work.total() - before;
  }
  std::vector<double> y_values;
  double saved_bytes;
  NamedValues gradients_of_all;
  Work forward, both;
};

void now(Judge& judge, const Subject& subject) {
  judge.now(fmt::format("two blocks of D12 H3, {} sequences of {}, {}, device {}", kSequences,
                        kSize.T, name_of(subject.dtype), subject.kind));
}

NamedValues one(double value) {
  return {{"", {value}}};
}

// ---- step 3.2 ----

void output_is_the_layers(Judge& judge) {
  for (const Subject& subject : kSubjects) {
    now(judge, subject);
    Case c(subject);
    const Tensor y = forward_keeping_input(c.layer, c.x, c.saved);
    judge.equal("output", {{"", y.to_doubles()}}, {{"", Plain(subject).y_values}}, 0, 0,
                {.equal_to = {{"the layer's input", {{"", c.x.to_doubles()}}}}});
  }
}

void input_alone_is_kept(Judge& judge) {
  for (const Subject& subject : kSubjects) {
    now(judge, subject);
    Case c(subject);
    const Tensor y = forward_keeping_input(c.layer, c.x, c.saved);
    const double held_bytes = c.held_bytes(), saved_bytes = Plain(subject).saved_bytes;
    const auto x_bytes = static_cast<double>(c.x.bytes());
    Tensor kept;
    int tensors = 0;
    for (; !c.saved.is_empty(); ++tensors) kept = c.saved.pop();
    const char* where = tensors > 1 ? "on the stack" : "not on this stack but elsewhere";
    judge.equal(
        "bytes held for backward", held_bytes, x_bytes, 0,
        {.equal_to = {{fmt::format("all that the layer saves, {}", where), one(saved_bytes)},
                      {"the input and the output", one(2 * x_bytes)}}});
    judge.equal("tensor on the stack", {{"", kept.to_doubles()}}, {{"", c.x.to_doubles()}}, 0, 0,
                {.equal_to = {{"the layer's output", {{"", y.to_doubles()}}}}});
  }
}

// Of the layer's own tensors none is ever held: not even until forward returns.
void forward_holds_no_more(Judge& judge) {
  for (const Subject& subject : kSubjects) {
    now(judge, subject);
    Case c(subject);
    forward_keeping_input(c.layer, c.x, c.saved);
    judge.equal("peak of the bytes held for backward, while forward runs",
                static_cast<double>(c.test.memory.category_peaks()[Category::activations]),
                static_cast<double>(c.x.bytes()), 0,
                {.equal_to = {{"all that the layer saves", one(Plain(subject).saved_bytes)}}});
  }
}

void evaluation_keeps_nothing(Judge& judge) {
  now(judge, kSubjects[0]);
  Case c(kSubjects[0]);
  SavedTensors none = SavedTensors::none();
  forward_keeping_input(c.layer, c.x, none);
  judge.equal("bytes held after a forward pass that no backward follows", c.held_bytes(), 0, 0);
}

// ---- step 3.3 ----

void gradients_are_the_layers(Judge& judge) {
  for (const Subject& subject : kSubjects) {
    now(judge, subject);
    Case c(subject);
    forward_keeping_input(c.layer, c.x, c.saved);
    const Tensor d_x = backward_from_input(c.layer, c.d_y, c.saved, c.weights);
    const NamedValues expected = Plain(subject).gradients_of_all;
    NamedValues twice = expected, d_y_itself = expected;
    for (auto& [name, values] : twice)
      for (double& value : values) value *= name == "the input" ? 1 : 2;
    d_y_itself["the input"] = c.d_y.to_doubles();
    const Plain from_output(subject, [](Case& other) {
      SavedTensors none = SavedTensors::none();
      return other.layer.forward(other.x, none);
    });
    judge.equal(
        "gradient", gradients(c, d_x), expected, 0, 0,
        {.equal_to = {{"the parameters' gradients, added up twice", twice},
                      {"d_y, as it came, for d_x", d_y_itself},
                      {"the gradients of the layer at its output", from_output.gradients_of_all}}});
  }
}

// Two micro-batches, one after the other.
void gradients_add_up(Judge& judge) {
  now(judge, kSubjects[0]);
  Case c(kSubjects[0]), plain(kSubjects[0]), second(kSubjects[0]);
  const auto pass = [](Case& to, const Tensor& x) {
    to.layer.forward(x, to.saved);
    to.layer.backward(to.d_y, to.saved, to.weights);
  };
  for (const char* name : {"x", "another x"}) {
    forward_keeping_input(c.layer, c.tensor(name), c.saved);
    backward_from_input(c.layer, c.d_y, c.saved, c.weights);
    pass(plain, plain.tensor(name));
  }
  pass(second, second.tensor("another x"));
  judge.equal("gradient after two passes", gradients_of(c.parameters),
              gradients_of(plain.parameters), 0, 0,
              {.equal_to = {{"the second pass's alone", gradients_of(second.parameters)}}});
}

void layers_share_a_stack(Judge& judge) {
  now(judge, kSubjects[0]);
  Case c(kSubjects[0]);
  Layer &first = *c.layer.layers()[0], &second = *c.layer.layers()[1];
  const Tensor middle = forward_keeping_input(first, c.x, c.saved);
  forward_keeping_input(second, middle, c.saved);
  const Tensor d_middle = backward_from_input(second, c.d_y, c.saved, c.weights);
  judge.equal("bytes held when the second block is done", c.held_bytes(),
              static_cast<double>(c.x.bytes()), 0,
              {.equal_to = {{"the inputs of both: the second's is still on the stack",
                             one(2 * static_cast<double>(c.x.bytes()))}}});
  const Tensor d_x = backward_from_input(first, d_middle, c.saved, c.weights);
  judge.equal("bytes held when both blocks are done", c.held_bytes(), 0, 0);
  judge.equal("gradient", gradients(c, d_x), Plain(kSubjects[0]).gradients_of_all, 0, 0);
}

// Four recomputed layers: three inputs wait while one layer's tensors are there.
void one_segment_at_a_time(Judge& judge) {
  const Subject& subject = kSubjects[0];
  judge.now("four times two blocks of D12 H3, 2 sequences of 7, f64, one after the other");
  const double saved_bytes = Plain(subject).saved_bytes;
  Case c(subject);
  Tensor y = c.x;
  for (int i = 0; i < 4; ++i) y = forward_keeping_input(c.layer, y, c.saved);
  Tensor d = c.d_y;
  for (int i = 0; i < 4; ++i) d = backward_from_input(c.layer, d, c.saved, c.weights);
  judge.equal("peak of the bytes held for backward",
              static_cast<double>(c.test.memory.category_peaks()[Category::activations]),
              3 * static_cast<double>(c.x.bytes()) + saved_bytes, 0,
              {.equal_to = {{"what all four save, at once", one(4 * saved_bytes)},
                            {"the inputs alone", one(4 * static_cast<double>(c.x.bytes()))}},
               .differs_by = {{"one more input", one(static_cast<double>(c.x.bytes()))}}});
}

void work_is_counted_as_recomputed(Judge& judge) {
  now(judge, kSubjects[0]);
  const Plain plain(kSubjects[0]);
  Case c(kSubjects[0]);
  forward_keeping_input(c.layer, c.x, c.saved);
  backward_from_input(c.layer, c.d_y, c.saved, c.weights);
  const Work work = c.test.work.total();
  const auto number = [](std::int64_t flops) { return static_cast<double>(flops); };
  judge.equal("executed FLOPs", number(work.executed_flops),
              number(plain.both.executed_flops + plain.forward.executed_flops), 0,
              {.equal_to = {{"those of a step that computes nothing again",
                             one(number(plain.both.executed_flops))}},
               .differs_by = {{"the forward pass", one(number(plain.forward.executed_flops))}}});
  judge.equal("model FLOPs", number(work.model_flops), number(plain.both.model_flops), 0,
              {.differs_by = {{"the forward pass", one(number(plain.forward.model_flops))}}});
}

}  // namespace

const Exam shardlings::kExam{
    .name = "exercise 03",
    .hint = "./shardlings hint 03",
    .again = "./shardlings check 03",
    .checks = {{"3.1", "segments have k blocks each", k_divides},
               {"3.1", "the last segment has what is left", k_does_not_divide},
               {"3.2", "the output is the layer's", output_is_the_layers},
               {"3.2", "of all that the layer saves, its input is kept", input_alone_is_kept},
               {"3.2", "forward holds no more than that", forward_holds_no_more},
               {"3.2", "evaluation keeps nothing", evaluation_keeps_nothing},
               {"3.3", "gradients are the layer's, to the last bit", gradients_are_the_layers},
               {"3.3", "gradients of two passes add up", gradients_add_up},
               {"3.3", "each layer takes from the stack what it put there", layers_share_a_stack},
               {"3.3", "one layer's tensors are there at a time", one_segment_at_a_time},
               {"3.3", "work done again is counted as that", work_is_counted_as_recomputed}}};
