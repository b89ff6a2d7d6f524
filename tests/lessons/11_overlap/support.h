// What the tests of overlap share: a model whose blocks report to a reduction, on every rank.
#pragma once

#include <barrier>
#include <cstdlib>
#include <functional>

#include "lessons/11_overlap/overlap.h"
#include "tests/lessons/10_data_parallel/support.h"

namespace shardlings::lesson11 {

// From start to wait, tensors are NaN: set before ranks start, and for all of them.
class Poison {
 public:
  Poison() { ::setenv("SHARDLINGS_POISON", "1", 1); }
  ~Poison() { ::unsetenv("SHARDLINGS_POISON"); }
  Poison(const Poison&) = delete;
  Poison& operator=(const Poison&) = delete;
};

// Does something when a layer's backward is over, but before whoever wraps it goes on.
class Watched : public lesson01::Layer {
 public:
  Watched(lesson01::LayerPtr layer, std::function<void()> after)
      : layer_(std::move(layer)), after_(std::move(after)) {}
  Tensor forward(const Tensor& x, lesson01::SavedTensors& saved) override {
    return layer_->forward(x, saved);
  }
  Tensor backward(const Tensor& d_y, lesson01::SavedTensors& saved,
                  lesson01::WeightGradients& weights) override {
    const Tensor d_x = layer_->backward(d_y, saved, weights);
    after_();
    return d_x;
  }
  void visit(const lesson01::ParameterVisitor& visitor) override { layer_->visit(visitor); }

 private:
  lesson01::LayerPtr layer_;
  std::function<void()> after_;
};

// Calls after(l) after the backward of block l.
inline void watch(lesson01::Gpt& model, const std::function<void(std::size_t)>& after) {
  std::vector<lesson01::LayerPtr>& layers = model.blocks().layers();
  for (std::size_t l = 0; l < layers.size(); ++l)
    layers[l] = std::make_unique<Watched>(std::move(layers[l]), [after, l] { after(l); });
}

// A rank's model; add() leaves the gradients of a batch, of all ranks.
struct Replica {
  using Watch = std::function<void(std::size_t block)>;

  // `inside` is called before a block reports, `outside` after it has.
  Replica(World& w, const lesson10::TrainingCase& its_case, const Watch& inside = {},
          const Watch& outside = {})
      : world(w),
        settings(its_case),
        model(world.device(), settings.dtype, settings.size, 1),
        buckets(lesson10::make_gradient_buckets(model.parameters(), settings.bucket)),
        reduction(buckets, world.dp()) {
    lesson01::make_uneven(model.parameters());
    if (inside) watch(model, inside);
    reduce_in_backward(model, reduction, world.dp());
    if (outside) watch(model, outside);
  }

  // The loss's sum over this rank's samples.
  double run_backward(const GlobalBatch& batch) {
    const GlobalBatch own = lesson10::own_samples(batch, world.dp());
    reduction.begin_step(std::min(settings.M, own.sequences));
    return lesson10::add_gradients(model, weights, own, settings.M, 1 / batch.valid_tokens());
  }

  double add(const GlobalBatch& batch) {
    const double loss_sum = run_backward(batch);
    reduction.finish();
    return world.dp().sum(loss_sum) / batch.valid_tokens();
  }

  World& world;
  lesson10::TrainingCase settings;
  lesson01::Gpt model;
  std::vector<Tensor> buckets;
  OverlappedReduction reduction;
  lesson01::WeightGradients weights = {};
};

// Two ranks in step, whose only messages are those of a bucket that the first layer completes: what
// it holds on rank 0 after `layers` layers that nobody waits in. The ranks began with 1 and 2.
inline std::vector<double> sums_behind_layers(std::int64_t layers) {
  constexpr std::int64_t kBucket = 10;
  std::barrier<> in_step(2);
  std::vector<double> sums;
  on_ranks(2, small_world(), [&](World& world) {
    const Tensor memory(world.device(), DType::f64, {kBucket + layers}, "gradients");
    fill(memory, world.rank() + 1);
    const Tensor first = memory.columns(0, kBucket);
    OverlappedReduction reduction({first, memory.columns(kBucket, kBucket + layers)}, world.dp());
    reduction.begin_step(1);
    lesson01::SavedTensors saved;
    lesson01::WeightGradients weights;
    for (std::int64_t l = 0; l < layers; ++l) {
      ReducedInBackward layer(std::make_unique<Watched>(std::make_unique<lesson01::Sequential>(),
                                                        [&] { in_step.arrive_and_wait(); }),
                              kBucket + l, reduction, world.dp());
      layer.backward(memory, saved, weights);
    }
    require(reduction.started() == 1, "{} buckets begun", reduction.started());
    if (world.rank() == 0) sums = first.to_doubles();
    reduction.finish();
  });
  return sums;
}

}  // namespace shardlings::lesson11
