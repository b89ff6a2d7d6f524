// What this rank sent, to whom and why: the instrument behind every traffic row of a report.
//
// A plain recorder, one per rank. Bytes are added where a message leaves, and nowhere else; nobody
// computes them from a formula. Control traffic is not in it.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>

namespace shardlings {

// A row: "dp all_reduce gradients".
struct TrafficKey {
  std::string axis, operation, what;
  std::string dtype = {};
  bool recomputed = false;  // sent once more, because forward ran once more
  auto operator<=>(const TrafficKey&) const = default;
};

struct TrafficCount {
  std::int64_t calls = 0;
  std::int64_t messages = 0;       // that this rank sent
  std::int64_t payload_bytes = 0;  // of the tensors that the calls were about
  std::int64_t sent_bytes = 0;     // by this rank
  std::map<std::string, std::int64_t> sent_bytes_by_link = {};

  TrafficCount operator-(const TrafficCount& before) const;
  bool operator==(const TrafficCount&) const = default;
};

class TrafficLedger {
 public:
  using Rows = std::map<TrafficKey, TrafficCount>;

  void add_call(const TrafficKey& key, std::int64_t payload_bytes);
  void add_message(const TrafficKey& key, const std::string& link, std::int64_t bytes);

  // What a library sends unseen, as the ring that would do the same.
  void add_ring_equivalent(const TrafficKey& key, const std::string& link, std::int64_t bytes);

  // Since the start.
  const Rows& total() const { return total_; }
  // What came after `before`, an earlier total(): the rows that changed.
  Rows since(const Rows& before) const;

 private:
  Rows total_;
};

}  // namespace shardlings
