#include "comm/threads.h"

#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>

#include "base/check.h"
#include "comm/progress.h"

namespace shardlings {

namespace {

// One side of a message. `done` is set, last of all, by the thread that copied.
struct Side {
  const void* from = nullptr;
  void* to = nullptr;
  std::int64_t bytes = 0;
  std::atomic<bool> done = false;
};
using SharedSide = std::shared_ptr<Side>;

// What the ranks of one group share: messages that wait for their other side.
class Hub {
 public:
  using Route = std::tuple<int, int, Channel, int>;  // from, to, channel, tag

  void meet(const Route& route, const SharedSide& side) {
    const SharedSide other = take_other(route, side);
    if (other == nullptr) return;
    const Side& sender = side->from != nullptr ? *side : *other;
    const Side& receiver = side->from != nullptr ? *other : *side;
    CHECK(sender.bytes == receiver.bytes, "a message of {} bytes for a buffer of {}", sender.bytes,
          receiver.bytes);
    std::memcpy(receiver.to, sender.from, static_cast<std::size_t>(sender.bytes));
    other->done.store(true, std::memory_order_release);
    side->done.store(true, std::memory_order_release);
  }

  // On return, nobody touches the buffer of `side` any more.
  void leave(const Route& route, const SharedSide& side) {
    {
      const std::lock_guard lock(mutex_);
      auto& [senders, receivers] = waiting_[route];
      if (std::erase(side->from != nullptr ? senders : receivers, side) > 0) return;
    }
    while (!side->done.load(std::memory_order_acquire)) std::this_thread::yield();
  }

  // The hub of the group that the `number`-th split of this group gave to `members`.
  std::shared_ptr<Hub> child(int number, const std::vector<int>& members) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Hub>& hub = children_[{number, members}];
    if (hub == nullptr) hub = std::make_shared<Hub>();
    return hub;
  }

 private:
  // The oldest waiting side of the other kind; without one, `side` waits.
  SharedSide take_other(const Route& route, const SharedSide& side) {
    const std::lock_guard lock(mutex_);
    auto& [senders, receivers] = waiting_[route];
    auto& others = side->from != nullptr ? receivers : senders;
    if (others.empty()) {
      (side->from != nullptr ? senders : receivers).push_back(side);
      return nullptr;
    }
    SharedSide other = others.front();
    others.pop_front();
    if (others.empty()) waiting_.erase(route);
    return other;
  }

  std::mutex mutex_;
  std::map<Route, std::pair<std::deque<SharedSide>, std::deque<SharedSide>>> waiting_;
  std::map<std::pair<int, std::vector<int>>, std::shared_ptr<Hub>> children_;
};

class ThreadTransport final : public Transport {
 public:
  ThreadTransport(std::shared_ptr<Hub> hub, int rank, int size)
      : Transport(rank, size), hub_(std::move(hub)) {}

  std::string kind() const override { return size() == 1 ? "self" : "threads"; }

  Request start_send(const void* data, std::int64_t bytes, int to, Channel channel,
                     int tag) override {
    const auto side = std::make_shared<Side>();
    side->from = data;
    side->bytes = bytes;
    return start({rank(), to, channel, tag}, side);
  }

  Request start_receive(void* data, std::int64_t bytes, int from, Channel channel,
                        int tag) override {
    const auto side = std::make_shared<Side>();
    side->to = data;
    side->bytes = bytes;
    return start({from, rank(), channel, tag}, side);
  }

  bool done(Request request) override {
    const auto found = under_way_.find(request);
    if (!found->second.side->done.load(std::memory_order_acquire)) return false;
    under_way_.erase(found);
    return true;
  }

  void cancel(Request request) override {
    const auto& [route, side] = under_way_.at(request);
    hub_->leave(route, side);
    under_way_.erase(request);
  }

  std::unique_ptr<Transport> split(const std::vector<int>& members, const std::string&) override {
    int place = 0;
    while (members[static_cast<std::size_t>(place)] != rank()) ++place;
    return std::make_unique<ThreadTransport>(hub_->child(splits_++, members), place,
                                             static_cast<int>(members.size()));
  }

 private:
  struct UnderWay {
    Hub::Route route;
    SharedSide side;
  };

  Request start(const Hub::Route& route, const SharedSide& side) {
    under_way_.emplace(++last_, UnderWay{route, side});
    hub_->meet(route, side);
    return last_;
  }

  std::shared_ptr<Hub> hub_;
  int splits_ = 0;
  Request last_ = 0;
  std::map<Request, UnderWay> under_way_;
};

}  // namespace

RankStart start_alone() {
  return {std::make_unique<ThreadTransport>(std::make_shared<Hub>(), 0, 1),
          FlightRecorder(std::make_shared<SharedMemory>(FlightRecorder::bytes(1)), 0, 1)};
}

std::optional<RankFailure> run_as_threads(int ranks, const std::function<void(RankStart)>& body) {
  CHECK(ranks >= 1, "a job has at least one rank, not {}", ranks);
  const auto hub = std::make_shared<Hub>();
  const auto memory = std::make_shared<SharedMemory>(FlightRecorder::bytes(ranks));
  std::atomic<bool> failed = false;
  std::mutex mutex;
  std::optional<RankFailure> first;
  const auto run = [&](int rank) {
    try {
      body({std::make_unique<ThreadTransport>(hub, rank, ranks),
            FlightRecorder(memory, rank, ranks), &failed, ranks, rank});
    } catch (const Aborted&) {
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!first) first = RankFailure{rank, std::current_exception()};
      failed = true;
    }
  };
  std::vector<std::jthread> others;
  for (int rank = 1; rank < ranks; ++rank) others.emplace_back(run, rank);
  run(0);
  others.clear();  // joins
  return first;
}

}  // namespace shardlings
