// What this machine can do at best, measured now: the yardstick that times are held against.
//
// Each function keeps `threads` threads busy for some tens of milliseconds and returns the best of
// several tries. A number measured beside a step belongs to the same minute as the step: clocks and
// neighbours change.
#pragma once

#include <cstdint>

#include "device/dtype.h"

namespace shardlings {

// FLOPs per second of independent multiply-adds in the widest vectors that the compiler was allowed
// to use; a multiply-add counts 2, as in a matrix product. Requires: f32 or f64.
double multiply_add_rate(DType dtype, int threads);

// FLOPs per cycle and core if one such vector is multiplied and added in a cycle. Cores with two
// units of that width do twice as many.
std::int64_t flops_of_a_vector(DType dtype);

// Cycles per second of one core: a chain of additions, each of which waits for the one before and
// takes a cycle.
double clock_rate();

// Bytes per second to and from memory, over arrays that no cache holds.
double read_rate(int threads);      // the sum of x
double copy_rate(int threads);      // y = x: read and written
double add_into_rate(int threads);  // y += x: two read, one written

// Exponentials of f32 per second (device/math.h), of an array that the nearest cache holds.
double exponential_rate(int threads);

}  // namespace shardlings
