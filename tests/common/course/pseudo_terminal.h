// A terminal that a test holds the other end of.
#pragma once

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace shardlings {

class PseudoTerminal {
 public:
  explicit PseudoTerminal(unsigned short columns) : reader_(::posix_openpt(O_RDWR | O_NOCTTY)) {
    if (reader_ < 0 || ::grantpt(reader_) != 0 || ::unlockpt(reader_) != 0) std::abort();
    file_ = std::fopen(::ptsname(reader_), "w");
    const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    if (file_ == nullptr || ::ioctl(reader_, TIOCSWINSZ, &size) != 0) std::abort();
  }
  ~PseudoTerminal() {
    std::fclose(file_);
    ::close(reader_);
  }
  PseudoTerminal(const PseudoTerminal&) = delete;
  PseudoTerminal& operator=(const PseudoTerminal&) = delete;

  std::FILE* file() { return file_; }

  // What has been written since the last call. Requires: something has (it waits for it).
  std::string take() {
    std::fflush(file_);
    char buffer[4096];
    const ssize_t count = ::read(reader_, buffer, sizeof buffer);
    return {buffer, static_cast<std::size_t>(count > 0 ? count : 0)};
  }

 private:
  int reader_;
  std::FILE* file_ = nullptr;
};

// Sets a variable of the environment (to nothing: nullptr) while it lives.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old, had_ = true;
    set(value);
  }
  ~Environment() { set(had_ ? old_.c_str() : nullptr); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  void set(const char* value) { value == nullptr ? ::unsetenv(name_) : ::setenv(name_, value, 1); }

  const char* name_;
  std::string old_;
  bool had_ = false;
};

}  // namespace shardlings
