#include "ledger/traffic_ledger.h"

namespace shardlings {

TrafficCount TrafficCount::operator-(const TrafficCount& before) const {
  TrafficCount rest{calls - before.calls,
                    messages - before.messages,
                    payload_bytes - before.payload_bytes,
                    sent_bytes - before.sent_bytes,
                    {}};
  for (const auto& [link, bytes] : sent_bytes_by_link) {
    const auto earlier = before.sent_bytes_by_link.find(link);
    const std::int64_t more =
        bytes - (earlier == before.sent_bytes_by_link.end() ? 0 : earlier->second);
    if (more > 0) rest.sent_bytes_by_link[link] = more;
  }
  return rest;
}

void TrafficLedger::add_call(const TrafficKey& key, std::int64_t payload_bytes) {
  TrafficCount& row = total_[key];
  row.calls += 1;
  row.payload_bytes += payload_bytes;
}

void TrafficLedger::add_message(const TrafficKey& key, const std::string& link,
                                std::int64_t bytes) {
  TrafficCount& row = total_[key];
  row.messages += 1;
  row.sent_bytes += bytes;
  row.sent_bytes_by_link[link] += bytes;
}

void TrafficLedger::add_ring_equivalent(const TrafficKey& key, const std::string& link,
                                        std::int64_t bytes) {
  add_message(key, link, bytes);
  total_[key].messages -= 1;
}

TrafficLedger::Rows TrafficLedger::since(const Rows& before) const {
  Rows rows;
  for (const auto& [key, row] : total_) {
    const auto earlier = before.find(key);
    const TrafficCount more = earlier == before.end() ? row : row - earlier->second;
    if (more != TrafficCount{}) rows.emplace(key, more);
  }
  return rows;
}

}  // namespace shardlings
