// Blocks of lesson 01 with another attention core.
#pragma once

#include <string>

#include "lessons/01_training_step/gpt.h"

namespace shardlings::lesson02 {

// What becomes of the scores: "stored" until backward (StoredAttention), "tiled" on the device
// (lesson01::Attention), or tiled in "plain" C++ (PlainAttention). Parameters, their names and
// their initial values are those of lesson 01.
lesson01::MakeBlock blocks_with(const std::string& scores);

}  // namespace shardlings::lesson02
