#include "lessons/03_checkpointing/checkpointing.h"

#include <iterator>

#include "lessons/02_activation_memory/stored_attention.h"
#include "lessons/03_checkpointing/exercise.h"
#include "lessons/03_checkpointing/recomputed.h"

namespace shardlings::lesson03 {

using namespace lesson01;

namespace {

// The two parts become one, in the second's place; an empty Sequential passes on what it gets.
void join(LayerPtr& cheap, LayerPtr& linear) {
  linear = std::make_unique<CheapThenLinear>(std::move(cheap), std::move(linear));
  cheap = std::make_unique<Sequential>();
}

}  // namespace

MakeBlock blocks_with(const Plan& plan) {
  return [plan](const LayerContext& context, const ModelSize& size) {
    auto block = std::make_unique<Block>(context, size);
    if (plan.stored_scores)
      block->attention = std::make_unique<lesson02::StoredAttention>(context.part("attn"), size.H);
    if (plan.selective && plan.stored_scores) {
      block->attention = std::make_unique<Recomputed>(std::move(block->attention));
    } else if (plan.selective) {
      join(block->norm_1, block->qkv);
      join(block->norm_2, block->up);
      join(block->gelu, block->down);
    }
    return block;
  };
}

void recompute_segments(Sequential& blocks, const Plan& plan) {
  if (plan.blocks_per_segment == 0) return;
  std::vector<LayerPtr>& layers = blocks.layers();
  std::vector<LayerPtr> recomputed;
  std::int64_t next = 0;
  for (const auto [first, count] : segments(std::ssize(layers), plan.blocks_per_segment)) {
    CHECK(first == next && count >= 1 && count <= std::ssize(layers) - next,
          "segments: block {} of {} comes next, got {} from block {} on", next, layers.size(),
          count, first);
    const auto begin = std::make_move_iterator(layers.begin() + first);
    recomputed.push_back(std::make_unique<Recomputed>(
        std::make_unique<Sequential>(std::vector<LayerPtr>(begin, begin + count))));
    next += count;
  }
  CHECK(next == std::ssize(layers), "segments: {} of {} blocks are in no segment",
        std::ssize(layers) - next, layers.size());
  layers = std::move(recomputed);
}

}  // namespace shardlings::lesson03
