// What a run trains: the model, its optimizer and the schedule. train_step, in main.cpp, uses them.
#pragma once

#include "course/run.h"
#include "lessons/01_training_step/gpt.h"
#include "lessons/01_training_step/optimizer.h"

namespace shardlings::lesson01 {

// Gives the parameters of a model storage and initial values, and returns those that the optimizer
// updates on this rank: all, or pieces of them (lesson 12).
using Place = std::function<Parameters(Gpt& model, std::uint64_t seed)>;
Parameters place_whole(Gpt& model, std::uint64_t seed);

struct Trainer {
  // Everything from the run's options. A later lesson brings blocks of its own, or another place
  // for the parameters.
  explicit Trainer(Run& run, const MakeBlock& make_block = make_plain_block,
                   const Place& place = place_whole);

  // --init and --resume. Before that, makes room for gradients that have none yet, and tells the
  // report how many parameters there are.
  void load(Run& run);
  // What --init, --resume, --save and --export read and write.
  StoredTensors stored_tensors();

  // The summed loss of a batch, without training on it.
  double evaluate(const GlobalBatch& global, Run& run);

  Gpt model;
  Parameters parameters;  // that the optimizer updates here
  WeightGradients weights;
  Optimizer optimizer;
  Schedule schedule;
  double max_norm;
};

}  // namespace shardlings::lesson01
