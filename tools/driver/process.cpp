#include "tools/driver/process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/check.h"

namespace shardlings {

namespace {

void exec(const CommandLine& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
}

// Runs `prepare` and then `command` in a child process.
pid_t start(const CommandLine& command, const std::function<void()>& prepare) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) fail(ExitCode::unavailable, "{}: {}", command[0], std::strerror(errno));
  if (child > 0) return child;
  prepare();
  exec(command);
  _exit(127);
}

int exit_status_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// Runs `command` with its output, and its errors when `errors` is set, in `on_text`.
int run_piped(const CommandLine& command, bool errors,
              const std::function<void(std::string_view)>& on_text) {
  int ends[2];  // to read from, to write to
  if (pipe2(ends, O_CLOEXEC) != 0) fail(ExitCode::unavailable, "pipe: {}", std::strerror(errno));
  const pid_t child = start(command, [&] {
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    dup2(errors ? ends[1] : nothing, STDERR_FILENO);
  });
  close(ends[1]);
  char buffer[4096];
  ssize_t count = 0;
  while ((count = read(ends[0], buffer, sizeof buffer)) > 0 || (count < 0 && errno == EINTR))
    if (count > 0) on_text({buffer, static_cast<std::size_t>(count)});
  close(ends[0]);
  return exit_status_of(child);
}

}  // namespace

int run(const CommandLine& command) {
  return exit_status_of(start(command, [] {}));
}

int run_by_line(const CommandLine& command, const std::function<void(std::string_view)>& on_line) {
  std::string pending;
  const int status = run_piped(command, true, [&](std::string_view text) {
    for (const char c : text) {
      if (c != '\n') {
        pending += c;
        continue;
      }
      on_line(pending);
      pending.clear();
    }
  });
  if (!pending.empty()) on_line(pending);
  return status;
}

std::string output_of(const CommandLine& command) {
  std::string output;
  const int status = run_piped(command, false, [&](std::string_view text) { output += text; });
  if (output.ends_with('\n')) output.pop_back();
  return status == 0 ? output : "";
}

void become(const CommandLine& command) {
  std::fflush(nullptr);
  exec(command);
  fail(ExitCode::unavailable, "{}: {}", command[0], std::strerror(errno));
}

}  // namespace shardlings
