#include "course/progress.h"

#include <cmath>
#include <vector>

#include "course/text.h"
#include "tests/common/course/pseudo_terminal.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

const ProgressState kState{.step = 20,
                           .steps = 600,
                           .loss = 2.4134,
                           .floor = 1.021,
                           .tokens_per_second = 24812.4,
                           .seconds_left = 12.3};

std::vector<std::int64_t> reported_steps(std::int64_t steps) {
  std::vector<std::int64_t> reported;
  for (std::int64_t step = 1; step <= steps; ++step)
    if (is_reported(step, steps)) reported.push_back(step);
  return reported;
}

// All that `out` holds.
std::string content(std::FILE* out) {
  std::rewind(out);
  std::string text;
  for (int c = std::fgetc(out); c != EOF; c = std::fgetc(out)) text += static_cast<char>(c);
  return text;
}

}  // namespace

TEST_CASE("the line says step, loss, floor, speed and the time left") {
  CHECK(progress_line(kState, 80) ==
        "step  20/600 · loss 2.413 · floor 1.021 · 24,812 tokens/s · 12 s left");
  ProgressState state = kState;
  state.step = 600;
  state.floor.reset();
  CHECK(progress_line(state, 80) == "step 600/600 · loss 2.413 · 24,812 tokens/s");
  state.tokens_per_second = 0;
  state.loss = std::nan("");
  CHECK(progress_line(state, 80) == "step 600/600 · loss nan");
}

TEST_CASE("the line is never wider than the terminal, and loses whole parts") {
  for (std::int64_t width = 1; width < 90; ++width)
    CHECK(display_width(progress_line(kState, width)) <= width);
  CHECK(progress_line(kState, 57) == "step  20/600 · loss 2.413 · floor 1.021 · 24,812 tokens/s");
  CHECK(progress_line(kState, 56) == "step  20/600 · loss 2.413 · floor 1.021");
  CHECK(progress_line(kState, 20) == "step  20/600");
  CHECK(progress_line(kState, 7) == "step  2");
}

TEST_CASE("plain output has round steps, about 10 to 20 of them") {
  CHECK(reported_steps(1) == std::vector<std::int64_t>{1});
  CHECK(reported_steps(3) == std::vector<std::int64_t>{1, 2, 3});
  CHECK(reported_steps(600) ==
        std::vector<std::int64_t>{1, 50, 100, 150, 200, 250, 300, 350, 400, 450, 500, 550, 600});
  for (std::int64_t steps = 20; steps < 5000; steps += 7) {
    CHECK(reported_steps(steps).size() >= 9);
    CHECK(reported_steps(steps).size() <= 22);
  }
}

TEST_CASE("in a file every reported step is a line, and notes stand between them") {
  const Environment columns("COLUMNS", "25");
  std::FILE* out = std::tmpfile();
  {
    ProgressLine progress(out, 40, 1024);
    for (std::int64_t step = 1; step <= 40; ++step) {
      progress.step_done(step, 1.0 / static_cast<double>(step));
      if (step == 2) progress.say("held-out loss 2.300");
    }
  }
  const std::string text = content(out);
  std::fclose(out);
  CHECK(text.find("step  1/40 · loss 1.000\nstep  2/40 · loss 0.500\nheld-out loss 2.300\n"
                  "step  4/40 · loss 0.250\nstep  6/40") == 0);
  CHECK(text.ends_with("step 40/40 · loss 0.025\n"));
  CHECK(text.find('\r') == std::string::npos);
}

TEST_CASE("on a terminal one line is rewritten inside its width") {
  const Environment columns("COLUMNS", nullptr), term("TERM", "xterm");
  PseudoTerminal terminal(25);
  {
    ProgressLine progress(terminal.file(), 40, 1024);
    progress.step_done(1, 1.0);
    CHECK(terminal.take() == "\r\x1b[Kstep  1/40 · loss 1.000");
    progress.say("held-out loss 2.300");
    CHECK(terminal.take() == "\r\x1b[Kheld-out loss 2.300\r\n");
    progress.say("a second note");
    CHECK(terminal.take() == "a second note\r\n");
    progress.step_done(40, 0.025);
    CHECK(terminal.take() == "\r\x1b[Kstep 40/40 · loss 0.025");
  }
  CHECK(terminal.take() == "\r\n");

  PseudoTerminal narrow(23);
  ProgressLine progress(narrow.file(), 40, 1024);
  progress.step_done(1, 1.0);
  CHECK(narrow.take() == "\r\x1b[Kstep  1/40");  // with the loss it would fill the last column
}
