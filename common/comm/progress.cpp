#include "comm/progress.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/check.h"

namespace shardlings {

namespace {

// A waiting rank asks again at once while its partners run on other cores, gives way to those that
// wait for this core, and soon leaves it to those that compute. Not so soon while a large message
// is on its way: MPI copies it piece by piece, a piece each time that it is asked.
class Pause {
 public:
  void take(bool moves_much) {
    if (moves_much != moves_much_) *this = Pause(moves_much);
    constexpr int kYields = 200, kYieldsOfLarge = 10'000;
    using std::chrono::microseconds;
    constexpr microseconds kShort{100}, kLongest{1000};
    if (turns_++ < (moves_much ? kYieldsOfLarge : kYields)) {
      sched_yield();
      return;
    }
    std::this_thread::sleep_for(sleep_);
    // After a long wait a little more of it is no matter: at most a 64th.
    sleep_ = std::min(sleep_ + sleep_ / (sleep_ < kShort ? 4 : 64), kLongest);
  }
  bool is_long() const { return turns_ % 256 == 0; }

  explicit Pause(bool moves_much = false) : moves_much_(moves_much) {}

 private:
  bool moves_much_;
  int turns_ = 0;
  std::chrono::microseconds sleep_{20};
};

}  // namespace

void Progress::start(const std::shared_ptr<Exchange>& exchange) {
  under_way_.push_back(exchange);
  poll();
}

void Progress::poll() {
  // An exchange that throws is out of the list already.
  std::vector<std::shared_ptr<Exchange>> rest;
  rest.swap(under_way_);
  for (const std::shared_ptr<Exchange>& exchange : rest) {
    exchange->done_ = exchange->advance();
    if (!exchange->done_) under_way_.push_back(exchange);
  }
}

void Progress::wait(const Exchange& exchange) {
  for (Pause pause; !exchange.is_done(); pause.take(exchange.moves_much())) {
    poll();
    if (failed_ != nullptr && failed_->load(std::memory_order_relaxed)) throw Aborted{};
    if (pause.is_long() && recorder_.quiet_seconds() > patience_seconds_)
      throw Error(
          ExitCode::hang,
          fmt::format("no rank has got on for {:.0f} s; the last calls of each, latest first:\n{}",
                      patience_seconds_, recorder_.table()));
  }
}

}  // namespace shardlings
