// How far training is. On a terminal one line is rewritten; elsewhere plain lines are added, the
// same ones in every run of so many steps.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace shardlings {

struct ProgressState {
  std::int64_t step = 0;  // steps done
  std::int64_t steps = 0;
  double loss = 0;               // nats per token
  std::optional<double> floor;   // the entropy of the same tokens, when it is known
  double tokens_per_second = 0;  // 0: not known yet
  double seconds_left = 0;
};

// "step  20/600 · loss 2.413 · floor 1.021 · 24,812 tokens/s · 12 s left". What does not fit into
// `width` columns is left out, from the right.
std::string progress_line(const ProgressState& state, std::int64_t width);

// Whether plain output has a line for this step: the first, the last, and every 1, 2 or 5 times a
// power of ten in between, 8 to 20 of them.
bool is_reported(std::int64_t step, std::int64_t steps);

class ProgressLine {
 public:
  // Requires: `out` outlives this. Only one rank of a run has a ProgressLine.
  ProgressLine(std::FILE* out, std::int64_t steps, std::int64_t tokens_per_step);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // After each step, numbered from 1. Errors: as write_text (course/terminal.h).
  void step_done(std::int64_t step, double loss, std::optional<double> floor = {});

  // A line of its own, above the progress line. Errors: as write_text.
  void say(std::string_view line);

 private:
  using Clock = std::chrono::steady_clock;

  std::FILE* out_;
  std::int64_t steps_;
  std::int64_t tokens_per_step_;
  std::int64_t steps_done_ = 0;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_rewrite_ = start_;
  bool line_is_open_ = false;  // the terminal's cursor stands behind the progress line
};

}  // namespace shardlings
