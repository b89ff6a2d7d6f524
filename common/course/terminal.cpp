#include "course/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <system_error>

#include "base/check.h"
#include "course/stop.h"

namespace shardlings {

namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::int64_t columns_of(int file, bool terminal) {
  const std::string_view text = environment("COLUMNS");
  std::int64_t columns = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, columns);
  if (result.ec == std::errc{} && result.ptr == end && columns > 0) return columns;
  struct winsize size {};
  if (terminal && ::ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

}  // namespace

TextStyle style_of(std::FILE* out) {
  const int file = ::fileno(out);
  const bool terminal = ::isatty(file) != 0 && environment("TERM") != "dumb";
  return {.width = std::min<std::int64_t>(100, columns_of(file, terminal)),
          .terminal = terminal,
          .colour = terminal && environment("NO_COLOR").empty()};
}

std::string painted(const TextStyle& style, Colour colour, std::string_view text) {
  if (!style.colour) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", static_cast<int>(colour), text);
}

void write_text(std::FILE* out, std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), out) == text.size();
  if (std::fflush(out) == 0 && written) return;
  if (errno == EPIPE) return request_stop();
  fail(ExitCode::io, "cannot write the output: {}", std::generic_category().message(errno));
}

}  // namespace shardlings
