// Faults on order, for tests and drills: what a sick cluster does, at a chosen place.
//
//   SHARDLINGS_FAULT=KIND:RANK:OPERATION[:MILLISECONDS]
//
// happens on that rank instead of, or before, its operation of that number, counted from 0 over all
// its groups. KIND is
//   crash   the process is killed
//   stall   the rank sleeps for ever
//   skip    the rank leaves the operation out
//   delay   it comes later, by the milliseconds
//   nan     what it contributes is NaN
//
// And with SHARDLINGS_POISON=1, tensors that a collective works on in place are NaN from start to
// wait(), so that what reads or writes them in between is seen.
#pragma once

#include <cstdint>

#include "tensor/tensor.h"

namespace shardlings {

// Does what SHARDLINGS_FAULT says to operation `number` of `rank`, which is about x. False when the
// operation is to be left out.
// Errors: Error(usage) when the variable cannot be read.
bool pass_fault(std::int64_t rank, std::int64_t number, const Tensor& x);

// Whether SHARDLINGS_POISON is 1.
bool poisons();

}  // namespace shardlings
