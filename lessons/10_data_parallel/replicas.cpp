#include "lessons/10_data_parallel/replicas.h"

#include "base/hash.h"

namespace shardlings::lesson10 {

using namespace lesson01;
using namespace lesson04;

// [slide own_samples]
GlobalBatch own_samples(const GlobalBatch& global, const Communicator& dp) {
  const std::int64_t n = dp.size(), rank = dp.rank(), sequences = global.sequences;
  if (sequences < n)
    fail(ExitCode::usage, "--batch {}: {} ranks need at least one sequence each", sequences, n);
  return sequences_of(global, rank * sequences / n, (rank + 1) * sequences / n);
}
// [end slide]

double add_gradients(Gpt& model, WeightGradients& weights, const GlobalBatch& own, std::int64_t M,
                     double scale) {
  const std::vector<GlobalBatch> parts = micro_batches(own, M);
  double loss_sum = 0;
  for (const LossPart& part :
       run_micro_batches(model, weights, parts, std::vector<double>(parts.size(), scale)))
    loss_sum += part.sum;
  return loss_sum;
}

// [slide all_reduce]
void all_reduce_gradients(const std::vector<Tensor>& buckets, Communicator& dp) {
  for (const Tensor& bucket : buckets) dp.all_reduce(bucket, "gradients");
}
// [end slide]

bool replicas_are_equal(const Parameters& parameters, Communicator& dp) {
  std::string bytes;
  for (const Parameter* parameter : parameters)
    for (const double value : parameter->value.to_doubles())
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  return dp.all_equal(hash_of(bytes));
}

}  // namespace shardlings::lesson10
