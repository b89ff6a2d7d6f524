// Judges exercise 10: make_gradient_buckets, by where it puts the gradients, by how it cuts their
// memory, and by what ranks learn with it.
#include <fmt/ranges.h>

#include <algorithm>

#include "lessons/10_data_parallel/exercise.h"
#include "lessons/10_data_parallel/replicas.h"
#include "tests/lessons/04_gradient_accumulation/support.h"
#include "tests/support/judge.h"
#include "tests/support/ranks.h"

using namespace shardlings;
using namespace shardlings::lesson01;
using namespace shardlings::lesson10;

namespace {

constexpr ModelSize kSize{.L = 1, .D = 8, .H = 2, .T = 5, .V = 11};

// A model without gradients, and the buckets that the answer makes for it.
struct Bucketed {
  explicit Bucketed(std::int64_t capacity, DType dtype = DType::f32,
                    std::string_view backend = "cpu")
      : test(backend, dtype, 1),
        model(test.device(), dtype, kSize, 1),
        parameters(model.parameters()),
        P(count_elements(parameters)),
        before(test.memory.now()),
        buckets(make_gradient_buckets(parameters, capacity)) {}

  TestDevice test;
  Gpt model;
  Parameters parameters;
  std::int64_t P;
  MemoryUse before;
  std::vector<Tensor> buckets;
};

std::string model_text() {
  const Bucketed made(1'000'000);
  return fmt::format("a model with P = {} in {} tensors", made.P, made.parameters.size());
}

// ---- step 10.1 ----

void one_piece_of_memory(Judge& judge) {
  judge.now(model_text() + ", buckets of 100, f32");
  const Bucketed made(100);
  for (const Parameter* parameter : made.parameters)
    judge.holds(!parameter->gradient.is_empty(),
                {.quantity = "the gradient of " + parameter->name,
                 .expected = "a tensor",
                 .measured = "none",
                 .suggests = "every parameter has one, biases as well"});
  const auto P = static_cast<double>(made.P);
  for (int c = 0; c < kCategories; ++c) {
    const auto category = static_cast<Category>(c);
    const double bytes = static_cast<double>(made.test.memory.now()[category]) -
                         static_cast<double>(made.before[category]);
    judge.equal(fmt::format("bytes of {} that were added", name_of(category)), bytes,
                category == Category::gradients ? 4 * P : 0, 0,
                {.letters = {},
                 .equal_to = {{"none: they are counted under another name", {{"", {0}}}},
                              {"the gradients twice: tensors of their own beside the memory",
                               {{"", {8 * P}}}}}});
  }
  const auto storage = made.parameters.front()->gradient.storage();
  for (const Parameter* parameter : made.parameters)
    judge.holds(parameter->gradient.storage() == storage,
                {.quantity = "where the gradient of " + parameter->name + " lies",
                 .expected = "in the same memory as the others",
                 .measured = "in one of its own",
                 .suggests = "a bucket has to hold neighbours"});
}

void shapes_are_the_parameters(Judge& judge) {
  judge.now(model_text() + ", buckets of 100, f32");
  const Bucketed made(100);
  for (const Parameter* parameter : made.parameters)
    judge.holds(parameter->gradient.shape() == parameter->value.shape(),
                {.quantity = "the shape of the gradient of " + parameter->name,
                 .expected = parameter->value.shape().text(),
                 .measured = parameter->gradient.shape().text(),
                 .suggests = "backward writes a matrix there, not a row of numbers"});
}

// ---- step 10.2 ----

NamedValues list(const std::vector<double>& values) {
  return {{"", values}};
}

std::vector<double> sizes_of(const std::vector<Tensor>& buckets) {
  std::vector<double> sizes;
  for (const Tensor& bucket : buckets) sizes.push_back(static_cast<double>(bucket.elements()));
  return sizes;
}

void judge_sizes(Judge& judge, std::int64_t capacity) {
  const std::int64_t P = Bucketed(1'000'000).P;
  judge.now(fmt::format("{}, buckets of {}", model_text(), capacity));
  const Bucketed made(capacity);
  const std::int64_t full = P / capacity, rest = P % capacity;
  const std::vector<double> sizes = sizes_of(made.buckets);
  double sum = 0;
  for (const double size : sizes) sum += size;
  const bool has_empty = std::ranges::count(sizes, 0) > 0;
  judge.holds(!has_empty, {.quantity = "elements of the smallest bucket",
                           .expected = "at least 1",
                           .measured = "0",
                           .suggests = "an empty bucket: P is a multiple of the capacity here, and "
                                       "nothing is left for a last one"});
  judge.equal("elements in all buckets together", sum, static_cast<double>(P), 0,
              {.letters = {},
               .equal_to = {{"the full buckets: what does not fill one is in none",
                             list({static_cast<double>(full * capacity)})}}});
  judge.equal("how many buckets there are", static_cast<double>(sizes.size()),
              static_cast<double>(full + (rest > 0 ? 1 : 0)), 0,
              {.letters = {},
               .equal_to = {{"one bucket for each parameter",
                             list({static_cast<double>(made.parameters.size())})},
                            {"a single bucket, whatever its capacity", list({1})}}});
  std::vector<double> expected(static_cast<std::size_t>(full), static_cast<double>(capacity));
  if (rest > 0) expected.push_back(static_cast<double>(rest));
  judge.equal("elements of bucket", list(sizes), list(expected), 0, 0,
              {.letters = {},
               .equal_to = {{"the same sizes, the partial bucket first",
                             list({expected.rbegin(), expected.rend()})}}});
  for (const Tensor& bucket : made.buckets)
    judge.holds(bucket.shape() == Shape{bucket.elements()}, {.quantity = "the shape of a bucket",
                                                             .expected = "one dimension",
                                                             .measured = bucket.shape().text()});
}

void buckets_have_their_size(Judge& judge) {
  const std::int64_t P = Bucketed(1'000'000).P;
  for (const std::int64_t capacity : {std::int64_t{100}, P / 4, P, P + 1, 2 * P, std::int64_t{1}})
    judge_sizes(judge, capacity);
}

// Where each parameter's gradient begins, if all lie side by side in this order.
NamedValues numbered(const Parameters& order) {
  NamedValues values;
  double number = 0;
  for (const Parameter* parameter : order)
    for (std::int64_t i = 0; i < parameter->value.elements(); ++i)
      values[parameter->name].push_back(++number);
  return values;
}

// Numbers written through the buckets, from the first to the last, and read as gradients.
void judge_layout(Judge& judge, std::int64_t capacity, const std::string& backend) {
  judge.now(
      fmt::format("{}, buckets of {}, device {}: 1, 2, 3 ... are written into the buckets "
                  "and read from the gradients",
                  model_text(), capacity, backend));
  const Bucketed made(capacity, DType::f64, backend);
  for (const Parameter* parameter : made.parameters) fill(parameter->gradient, 0);
  double number = 0;
  for (const Tensor& bucket : made.buckets) {
    std::vector<double> values(static_cast<std::size_t>(bucket.elements()));
    for (double& value : values) value = ++number;
    bucket.from_doubles(values);
  }
  const Parameters& forward = made.parameters;
  NamedValues nothing;
  for (const Parameter* parameter : forward)
    nothing[parameter->name].resize(static_cast<std::size_t>(parameter->value.elements()));
  judge.equal("gradient", gradients_of(forward), numbered({forward.rbegin(), forward.rend()}), 0, 0,
              {.letters = {},
               .equal_to = {{"the order in which forward uses the parameters: backward completes "
                             "them the other way round",
                             numbered(forward)},
                            {"nothing of what was written: the buckets are not the memory of the "
                             "gradients",
                             nothing}}});
}

void gradients_are_in_the_buckets(Judge& judge) {
  for (const char* backend : {"cpu", "guarded"})
    for (const std::int64_t capacity : {100, 1'000'000}) judge_layout(judge, capacity, backend);
}

// ---- both, in training ----

void ranks_learn_from_all_samples(Judge& judge) {
  constexpr std::int64_t kSequences = 5;
  const GlobalBatch batch = lesson04::uneven_batch(kSize, kSequences, 1);
  const double scale = 1 / batch.valid_tokens();
  const TestDevice test("cpu", DType::f64, 1);
  Gpt whole(test.device(), DType::f64, kSize, 1);
  loss_and_gradients(whole, batch, test);
  for (const int n : {2, 3})
    for (const std::int64_t capacity : {100, 1'000'000}) {
      judge.now(
          fmt::format("{} sequences on {} ranks, buckets of {}, f64", kSequences, n, capacity));
      std::vector<NamedValues> gradients(static_cast<std::size_t>(n));
      on_ranks(n, small_world(), [&](World& world) {
        Gpt model(world.device(), DType::f64, kSize, 1);
        const std::vector<Tensor> buckets = make_gradient_buckets(model.parameters(), capacity);
        WeightGradients weights;
        add_gradients(model, weights, own_samples(batch, world.dp()), 1, scale);
        all_reduce_gradients(buckets, world.dp());
        gradients[static_cast<std::size_t>(world.rank())] = gradients_of(model.parameters());
      });
      for (int rank = 0; rank < n; ++rank)
        judge.equal(fmt::format("rank {}'s gradient", rank),
                    gradients[static_cast<std::size_t>(rank)], gradients_of(whole.parameters()),
                    1e-10, 1e-6, {.letters = {{"n", n}}, .equal_to = {}});
    }
}

}  // namespace

const Exam shardlings::kExam{
    .name = "exercise 10",
    .hint = "./shardlings hint 10",
    .again = "./shardlings check 10",
    .checks = {
        {"10.1", "all gradients lie in one piece of memory, and nowhere else", one_piece_of_memory},
        {"10.1", "each gradient has its parameter's shape", shapes_are_the_parameters},
        {"10.2", "buckets have the elements that they can hold, the last one what is left",
         buckets_have_their_size},
        {"10.1", "the gradients lie in the buckets, the last parameter's first",
         gradients_are_in_the_buckets},
        {"10.2", "every rank gets the gradients of all samples", ranks_learn_from_all_samples}}};
