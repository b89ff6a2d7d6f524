// Batches in which not every token counts: each sequence begins with a prompt, and only the answer
// that follows is learned.
#pragma once

#include "course/run.h"

namespace shardlings::lesson04 {

// Masks the prompt of every sequence. Of T targets the last 1 to T count: few in most sequences,
// many in some. How many is a function of the seed and the sequence's global sample index alone, so
// that it does not depend on who holds the sequence.
void keep_answers(GlobalBatch& batch, std::uint64_t seed);

// From now on, the same for every batch of the run.
void learn_answers(Run& run);

}  // namespace shardlings::lesson04
