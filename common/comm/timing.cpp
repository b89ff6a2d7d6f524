#include "comm/timing.h"

#include <algorithm>
#include <deque>
#include <map>

#include "base/check.h"

namespace shardlings {

namespace {

// What a message takes, in a group whose ranks pool the ports of their nodes.
class Messages {
 public:
  Messages(const std::vector<Steps>& steps, const Cluster& cluster,
           std::span<const std::int64_t> ranks)
      : cluster_(cluster), ranks_(ranks) {
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      ports_[node(r)] += 1;
      for (std::size_t i = 0; i < steps[r].size(); ++i)
        if (const Step& step = steps[r][i]; step.send.count > 0 && leaves(r, step.to))
          leaving_[{node(r), i}] += 1;
    }
  }

  double seconds(std::size_t from, int to, std::size_t step, double bytes) const {
    if (!leaves(from, to)) return cluster_.inside.seconds(bytes);
    const double port = cluster_.between.bandwidth,
                 pooled = port * ports_.at(node(from)) / leaving_.at({node(from), step});
    return cluster_.between.latency +
           bytes / std::min(pooled, std::max(port, cluster_.inside.bandwidth));
  }

 private:
  std::int64_t node(std::size_t r) const { return ranks_[r] / cluster_.chips_per_node; }
  bool leaves(std::size_t from, int to) const {
    return node(from) != node(static_cast<std::size_t>(to));
  }

  const Cluster& cluster_;
  std::span<const std::int64_t> ranks_;
  std::map<std::int64_t, double> ports_;                            // of the group, by node
  std::map<std::pair<std::int64_t, std::size_t>, double> leaving_;  // by node and step
};

}  // namespace

std::vector<double> finish_times(const std::vector<Steps>& steps, double bytes_per_element,
                                 double start, const Cluster& cluster,
                                 std::span<const std::int64_t> ranks) {
  CHECK(steps.size() == ranks.size(), "steps of {} ranks, but {} places", steps.size(),
        ranks.size());
  const Messages messages(steps, cluster, ranks);
  const std::size_t n = steps.size();
  std::vector<double> now(n, start);
  std::vector<std::size_t> next(n, 0);
  std::vector<bool> sent(n, false);  // the message of the step that the rank is in
  std::map<std::pair<int, int>, std::deque<double>> arrivals;
  // A rank goes as far as the messages that have been sent let it.
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t i = 0; i < n; ++i) {
      const int rank = static_cast<int>(i);
      while (next[i] < steps[i].size()) {
        const Step& step = steps[i][next[i]];
        const bool sends = step.send.count > 0, receives = step.receive.count > 0;
        const double left =
            sends ? now[i] +
                        messages.seconds(i, step.to, next[i],
                                         bytes_per_element * static_cast<double>(step.send.count))
                  : now[i];
        if (sends && !sent[i]) arrivals[{rank, step.to}].push_back(left);
        moved = moved || !sent[i];
        sent[i] = true;
        std::deque<double>& coming = arrivals[{step.from, rank}];
        if (receives && coming.empty()) break;
        double end = left;
        if (receives) {
          end = std::max(end, coming.front());
          coming.pop_front();
        }
        now[i] = end;
        next[i] += 1;
        sent[i] = false;
        moved = true;
      }
    }
  }
  for (std::size_t i = 0; i < n; ++i)
    CHECK(next[i] == steps[i].size(), "rank {} waits in step {} for a message that nobody sends", i,
          next[i]);
  return now;
}

}  // namespace shardlings
