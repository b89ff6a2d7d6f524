// Exercise 01: clip the gradients by their global norm.
//
// solutions/01_training_step/exercise.cpp holds the course's answer, exercises/01_training_step/
// yours.
#pragma once

#include "lessons/01_training_step/parameter.h"

namespace shardlings::lesson01 {

// The Euclidean norm of all gradients taken as one long vector: sqrt(sum over all elements of g^2).
// Requires: every parameter has a gradient.
double gradient_norm(const Parameters& parameters);

// Scales all gradients by one factor, so that their norm is at most `max_norm`; changes nothing
// when it already is, or when max_norm is 0. Returns the norm before clipping (Pascanu et al. 2013,
// arXiv:1211.5063, algorithm 1).
double clip_gradients(const Parameters& parameters, double max_norm);

}  // namespace shardlings::lesson01
