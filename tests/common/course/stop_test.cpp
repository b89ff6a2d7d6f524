#include "course/stop.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include "tests/support/catch.h"

using namespace shardlings;

namespace {

// The exit status of a child process that does `work`; signals must not reach the test itself.
int status_of_child(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    install_stop_handlers();
    work();
    ::_exit(stop_requested() ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

TEST_CASE("one signal asks to stop, a second one ends the process with 75") {
  CHECK(status_of_child([] {}) == 0);
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) {
    CHECK(status_of_child([=] { ::raise(signal); }) == 1);
    // Two at once are one request: a launcher signals a process and then its group.
    CHECK(status_of_child([=] {
            ::raise(signal);
            ::raise(SIGTERM);
          }) == 1);
    CHECK(status_of_child([=] {
            ::raise(signal);
            ::usleep(300'000);
            ::raise(SIGTERM);
          }) == 75);
  }
  CHECK(status_of_child(request_stop) == 1);
}

TEST_CASE("a closed pipe and the file size limit do not kill") {
  CHECK(status_of_child([] { ::raise(SIGPIPE); }) == 0);
  CHECK(status_of_child([] { ::raise(SIGXFSZ); }) == 0);
}
