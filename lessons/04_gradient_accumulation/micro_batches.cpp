#include "lessons/04_gradient_accumulation/micro_batches.h"

#include <algorithm>

namespace shardlings::lesson04 {

using namespace lesson01;

GlobalBatch sequences_of(const GlobalBatch& global, std::int64_t first, std::int64_t end) {
  CHECK(0 <= first && first <= end && end <= global.sequences, "sequences {} to {} of {}", first,
        end, global.sequences);
  const auto rows = [&](auto values_BT) {  // a copy, cut at both ends
    if (values_BT.empty()) return values_BT;
    values_BT.erase(values_BT.begin() + end * global.T, values_BT.end());
    values_BT.erase(values_BT.begin(), values_BT.begin() + first * global.T);
    return values_BT;
  };
  return {.step = global.step,
          .first_sample = global.first_sample + static_cast<std::uint64_t>(first),
          .sequences = end - first,
          .T = global.T,
          .tokens_BT = rows(global.tokens_BT),
          .targets_BT = rows(global.targets_BT),
          .positions_BT = rows(global.positions_BT),
          .weights_BT = rows(global.weights_BT),
          .nats_BT = rows(global.nats_BT)};
}

std::vector<GlobalBatch> micro_batches(const GlobalBatch& global, std::int64_t M) {
  CHECK(M >= 1, "{} micro-batches; at least one is needed", M);
  const std::int64_t count = std::min(M, global.sequences);
  std::vector<GlobalBatch> parts;
  for (std::int64_t m = 0; m < count; ++m)
    parts.push_back(
        sequences_of(global, m * global.sequences / count, (m + 1) * global.sequences / count));
  return parts;
}

// [slide accumulate]
std::vector<LossPart> run_micro_batches(Gpt& model, WeightGradients& weights,
                                        const std::vector<GlobalBatch>& parts,
                                        const std::vector<double>& scales) {
  CHECK(scales.size() == parts.size(), "backward_scales: {} factors for {} micro-batches",
        scales.size(), parts.size());
  std::vector<LossPart> losses;
  for (std::size_t m = 0; m < parts.size(); ++m) {
    const Batch batch = to_device(parts[m], model.device(), model.dtype());
    SavedTensors saved;  // one stack at a time: empty again before the next part begins
    const double loss_sum = model.forward(batch, saved);
    model.backward(scales[m], saved, weights);  // adds to the gradients
    losses.push_back({loss_sum, parts[m].valid_tokens()});
  }
  return losses;
}

double accumulate_gradients(Gpt& model, WeightGradients& weights,
                            const std::vector<GlobalBatch>& parts) {
  const std::vector<double> scales = backward_scales(parts);  // before the first backward
  return step_loss(run_micro_batches(model, weights, parts, scales));
}
// [end slide]

}  // namespace shardlings::lesson04
