// Other programs, started without a shell. The first word of a command line is looked up in PATH.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace shardlings {

using CommandLine = std::vector<std::string>;

// All of these return the exit status: 128 + the signal's number when a signal ended the program,
// 127 when it could not be started.

// With our own terminal.
int run(const CommandLine& command);

// With nothing to read; each line of its output and errors goes to `on_line`, without its end.
int run_by_line(const CommandLine& command, const std::function<void(std::string_view)>& on_line);

// What `command` prints, without its errors and its last newline; "" when it fails.
std::string output_of(const CommandLine& command);

// Becomes the program: its terminal, its signals and its exit code are then ours.
// Errors: Error(unavailable) when it cannot be started.
[[noreturn]] void become(const CommandLine& command);

}  // namespace shardlings
