#include "course/stop.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

#include "base/check.h"

namespace shardlings {

namespace {

// The one global of the course: a signal handler has nowhere else to write. Lock-free, hence safe
// in a handler (unlike volatile sig_atomic_t, it is also safe to read from other threads).
std::atomic<bool> stop_flag = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int) {
  if (stop_flag.exchange(true)) ::_exit(static_cast<int>(ExitCode::out_of_memory));
}

}  // namespace

void install_stop_handlers() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) ::sigaction(signal, &action, nullptr);
  action.sa_handler = SIG_IGN;
  for (const int signal : {SIGPIPE, SIGXFSZ}) ::sigaction(signal, &action, nullptr);
}

bool stop_requested() {
  return stop_flag;
}

void request_stop() {
  stop_flag = true;
}

}  // namespace shardlings
