#include "course/progress.h"

#include <array>
#include <cmath>

#include "base/check.h"
#include "base/units.h"
#include "course/terminal.h"
#include "course/text.h"

namespace shardlings {

namespace {

constexpr std::string_view kEraseLine = "\r\x1b[K";
constexpr std::chrono::milliseconds kRewritePeriod{100};

}  // namespace

std::string progress_line(const ProgressState& state, std::int64_t width) {
  const std::string steps = std::to_string(state.steps);
  std::string line = fmt::format("step {:>{}}/{}", state.step, steps.size(), steps);
  std::array<std::string, 4> parts;
  parts[0] = fmt::format("loss {:.3f}", state.loss);
  if (state.floor) parts[1] = fmt::format("floor {:.3f}", *state.floor);
  if (state.tokens_per_second > 0) {
    parts[2] = format_count(std::llround(state.tokens_per_second)) + " tokens/s";
    if (state.step < state.steps) parts[3] = format_duration(state.seconds_left) + " left";
  }
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (display_width(line) + 3 + display_width(part) > width) break;
    line += " · " + part;
  }
  return std::string(prefix_of_width(line, width));
}

bool is_reported(std::int64_t step, std::int64_t steps) {
  if (step == 1 || step == steps) return true;
  std::int64_t period = 1;
  for (int i = 0; steps / period > 20; ++i) period = i % 3 == 1 ? period / 2 * 5 : period * 2;
  return step % period == 0;
}

ProgressLine::ProgressLine(std::FILE* out, std::int64_t steps, std::int64_t tokens_per_step)
    : out_(out), steps_(steps), tokens_per_step_(tokens_per_step) {}

ProgressLine::~ProgressLine() {
  // Not write_text: this also runs while an error is on its way to the reader.
  if (line_is_open_) std::fputs("\n", out_);
}

void ProgressLine::step_done(std::int64_t step, double loss, std::optional<double> floor) {
  const TextStyle style = style_of(out_);
  const Clock::time_point now = Clock::now();
  ++steps_done_;
  const bool due =
      style.terminal ? now >= next_rewrite_ || step == steps_ : is_reported(step, steps_);
  if (!due) return;
  next_rewrite_ = now + kRewritePeriod;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double steps_per_second = elapsed > 0 ? static_cast<double>(steps_done_) / elapsed : 0;
  const ProgressState state{
      .step = step,
      .steps = steps_,
      .loss = loss,
      .floor = floor,
      .tokens_per_second = steps_per_second * static_cast<double>(tokens_per_step_),
      .seconds_left = static_cast<double>(steps_ - step) / steps_per_second};
  if (style.terminal) {
    // One column is left free: in the last one the cursor would wait to wrap.
    write_text(out_, std::string(kEraseLine) + progress_line(state, style.width - 1));
    line_is_open_ = true;
  } else {
    write_text(out_, progress_line(state, style.width) + '\n');
  }
}

void ProgressLine::say(std::string_view line) {
  write_text(out_, fmt::format("{}{}\n", line_is_open_ ? kEraseLine : "", line));
  line_is_open_ = false;
}

}  // namespace shardlings
