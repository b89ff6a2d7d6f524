#include "course/terminal.h"

#include <sys/wait.h>

#include <csignal>

#include "base/check.h"
#include "course/stop.h"
#include "tests/common/course/pseudo_terminal.h"
#include "tests/support/catch.h"

using namespace shardlings;

TEST_CASE("a terminal's width is its own, COLUMNS' or 80, at most 100") {
  const Environment term("TERM", "xterm"), colours("NO_COLOR", nullptr);
  PseudoTerminal narrow(60), wide(200), unknown(0);
  {
    const Environment columns("COLUMNS", nullptr);
    CHECK(style_of(narrow.file()).width == 60);
    CHECK(style_of(wide.file()).width == 100);
    CHECK(style_of(unknown.file()).width == 80);
  }
  {
    const Environment columns("COLUMNS", "72");
    CHECK(style_of(narrow.file()).width == 72);
  }
  for (const char* nonsense : {"", "0", "-5", "12abc", "x"}) {
    const Environment columns("COLUMNS", nonsense);
    CHECK(style_of(narrow.file()).width == 60);
  }
}

TEST_CASE("colour is for terminals, unless NO_COLOR or a dumb one") {
  PseudoTerminal terminal(80);
  std::FILE* file = std::tmpfile();
  {
    const Environment term("TERM", "xterm"), colours("NO_COLOR", nullptr);
    CHECK(style_of(terminal.file()).colour);
    CHECK(style_of(terminal.file()).terminal);
    CHECK_FALSE(style_of(file).colour);
    CHECK_FALSE(style_of(file).terminal);
    CHECK(painted(style_of(terminal.file()), Colour::red, "off") == "\x1b[31moff\x1b[0m");
    CHECK(painted(style_of(file), Colour::red, "off") == "off");
  }
  {
    const Environment term("TERM", "xterm"), colours("NO_COLOR", "1");
    CHECK_FALSE(style_of(terminal.file()).colour);
    CHECK(style_of(terminal.file()).terminal);
  }
  {
    const Environment term("TERM", "dumb"), colours("NO_COLOR", nullptr);
    CHECK_FALSE(style_of(terminal.file()).terminal);
  }
  std::fclose(file);
}

TEST_CASE("a write that fails is an error with its reason") {
  std::FILE* full = std::fopen("/dev/full", "w");
  REQUIRE(full != nullptr);
  CHECK_THROWS_WITH(write_text(full, "words"), "cannot write the output: No space left on device");
  std::fclose(full);
}

TEST_CASE("a pipe that nobody reads stops the program without a word") {
  const pid_t child = ::fork();
  if (child == 0) {
    install_stop_handlers();
    int ends[2];
    if (::pipe(ends) != 0) ::_exit(2);
    ::close(ends[0]);
    std::FILE* pipe = ::fdopen(ends[1], "w");
    write_text(pipe, "words");
    write_text(pipe, "more words");
    ::_exit(stop_requested() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
}
