// A run on one device, saved so that it goes on bit for bit: one safetensors file per save.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "storage/named_tensors.h"

namespace shardlings {

struct TrainingState {
  // Updates done. It is the position in the data and in the learning-rate schedule as well.
  std::int64_t step = 0;
  // What makes the run this run, as text: sizes of the model, element type, seed, batch, ... A run
  // goes on only where all of them are equal.
  Metadata settings;
  // Everything that training changes: "parameters/NAME", "optimizer/NAME.m", ...
  std::vector<NamedTensor> tensors;
};

// Writes directory/step_000120.safetensors, whole or not at all, and returns its path; makes the
// directory. Of the steps up to this one, the two newest are kept.
// Requires: no later state is in the directory (require_no_state_after).
// Errors: Error(io) with the path and the reason; earlier states are then unharmed.
// Cost: the largest tensor in host memory.
std::filesystem::path save_training_state(const std::filesystem::path& directory,
                                          const TrainingState& state);

// Fills the tensors of `state` and sets its step, from a file or from the newest one in a
// directory; returns the path of that file.
// Errors: Error(no_input) when there is none; Error(bad_data) when it is malformed, or of a run
// with other settings (each difference is named) or tensors. All or nothing is filled, unless
// reading itself fails.
std::filesystem::path load_training_state(const std::filesystem::path& path, TrainingState& state);

// The file of the highest step.
std::optional<std::filesystem::path> newest_training_state(const std::filesystem::path& directory);

// For the start of a run that will save into `directory`: a later state there is another run's, and
// resuming would take it for this one's.
// Errors: Error(usage) that names the file.
void require_no_state_after(std::int64_t step, const std::filesystem::path& directory);

}  // namespace shardlings
