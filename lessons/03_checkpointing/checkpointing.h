// What to store and what to recompute, for a whole model.
#pragma once

#include "lessons/01_training_step/gpt.h"

namespace shardlings::lesson03 {

struct Plan {
  bool stored_scores = false;           // attention keeps its scores (lesson 02)
  bool selective = false;               // recompute what is large and cheap, inside every block
  std::int64_t blocks_per_segment = 0;  // recompute segments of so many blocks; 0: none
};

// Blocks of lesson 01 with the attention that `plan` asks for. Selective: of stored scores, the
// attention core is recomputed; of scores in tiles, which have nothing large to drop, the outputs
// of both norms and of GELU. Parameters, their names and order are those of lesson 01.
lesson01::MakeBlock blocks_with(const Plan& plan);

// Puts recomputed segments of `plan` in the place of the model's blocks, if it has any.
void recompute_segments(lesson01::Sequential& blocks, const Plan& plan);

}  // namespace shardlings::lesson03
