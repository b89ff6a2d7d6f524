#include "comm/timing.h"

#include <algorithm>
#include <deque>
#include <map>

#include "base/check.h"

namespace shardlings {

std::vector<double> finish_times(const std::vector<Steps>& steps, double bytes_per_element,
                                 double start,
                                 const std::function<const Link&(int from, int to)>& link) {
  const std::size_t n = steps.size();
  std::vector<double> now(n, start);
  std::vector<std::size_t> next(n, 0);
  std::vector<bool> sent(n, false);  // the message of the step that the rank is in
  std::map<std::pair<int, int>, std::deque<double>> arrivals;
  const auto seconds = [&](int from, int to, const Span& span) {
    return link(from, to).seconds(bytes_per_element * static_cast<double>(span.count));
  };
  // A rank goes as far as the messages that have been sent let it.
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t i = 0; i < n; ++i) {
      const int rank = static_cast<int>(i);
      while (next[i] < steps[i].size()) {
        const Step& step = steps[i][next[i]];
        const bool sends = step.send.count > 0, receives = step.receive.count > 0;
        if (sends && !sent[i])
          arrivals[{rank, step.to}].push_back(now[i] + seconds(rank, step.to, step.send));
        moved = moved || !sent[i];
        sent[i] = true;
        std::deque<double>& coming = arrivals[{step.from, rank}];
        if (receives && coming.empty()) break;
        double end = now[i];
        if (sends) end = std::max(end, now[i] + seconds(rank, step.to, step.send));
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
