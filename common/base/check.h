// One way to fail: an exception that carries its exit code and one clear line for the reader.
//
// CHECK states a contract, in every build; fail() reports what the outside world did wrong. A
// message names the option, tensor or rank, what was expected, what was got, and what to do about
// it.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>

namespace shardlings {

// What a program tells its caller. Errors start at 64, so that a launcher's own codes (a signal's
// number, for instance) are never mistaken for ours.
enum class ExitCode {
  ok = 0,
  check_failed = 1,    // a check or a filled budget row is off
  usage = 64,          // the command line
  bad_data = 65,       // an input that is there but cannot be right
  no_input = 66,       // an input that cannot be opened
  unavailable = 69,    // a device or a library that is not there
  broken = 70,         // training went NaN, a rank died, or a contract of ours was violated
  io = 74,             // reading or writing failed
  out_of_memory = 75,  // the memory cap or the machine's memory; also: stopped by a signal
  hang = 86,           // named by the watchdog
};

class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

template <class... Args>
[[noreturn]] void fail(ExitCode code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}

// The slow path of CHECK; `where` is file:line.
[[noreturn]] void check_failed(const char* where, const char* condition,
                               const std::string& message);

}  // namespace shardlings

#define SHARDLINGS_TEXT_OF(x) #x
#define SHARDLINGS_TEXT(x) SHARDLINGS_TEXT_OF(x)

// CHECK(a == b, "expected {} rows, got {}", a, b): throws Error(ExitCode::broken) in every build.
#define CHECK(condition, ...)                                                        \
  do {                                                                               \
    if (!(condition)) [[unlikely]]                                                   \
      ::shardlings::check_failed(__FILE__ ":" SHARDLINGS_TEXT(__LINE__), #condition, \
                                 fmt::format(__VA_ARGS__));                          \
  } while (false)
