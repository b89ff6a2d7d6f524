#include "lessons/02_activation_memory/attention_blocks.h"

#include "lessons/02_activation_memory/plain_attention.h"
#include "lessons/02_activation_memory/stored_attention.h"

namespace shardlings::lesson02 {

// [slide blocks_with]
lesson01::MakeBlock blocks_with(const std::string& scores) {
  return [scores](const lesson01::LayerContext& context, const ModelSize& size) {
    auto block = std::make_unique<lesson01::Block>(context, size);
    const lesson01::LayerContext attn = context.part("attn");
    if (scores == "stored") block->attention = std::make_unique<StoredAttention>(attn, size.H);
    if (scores == "plain") block->attention = std::make_unique<PlainAttention>(attn, size.H);
    return block;
  };
}
// [end slide]

}  // namespace shardlings::lesson02
