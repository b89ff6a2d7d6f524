#include "course/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"

namespace shardlings {

namespace {

using Json = nlohmann::ordered_json;

Json name_of(const char* what, int rank, std::ptrdiff_t thread, const std::string& name) {
  return {{"name", what}, {"ph", "M"}, {"pid", rank}, {"tid", thread}, {"args", {{"name", name}}}};
}

}  // namespace

std::string trace_of_rank(const std::vector<ClockEvent>& events, int rank) {
  Json trace = Json::array({name_of("process_name", rank, 0, fmt::format("rank {}", rank))});
  std::vector<std::string> lanes;  // a thread each
  for (const ClockEvent& event : events) {
    const auto lane = std::ranges::find(lanes, event.lane);
    const std::ptrdiff_t thread = lane - lanes.begin();
    if (lane == lanes.end()) {
      lanes.push_back(event.lane);
      trace.push_back(name_of("thread_name", rank, thread, event.lane));
    }
    constexpr double kMicroseconds = 1e6;
    trace.push_back({{"name", event.name.empty() ? "other" : event.name},
                     {"ph", "X"},
                     {"pid", rank},
                     {"tid", thread},
                     {"ts", kMicroseconds * event.begin},
                     {"dur", kMicroseconds * (event.end - event.begin)}});
  }
  return trace.dump();
}

std::filesystem::path write_trace(const std::vector<std::string>& ranks,
                                  const std::filesystem::path& directory) {
  Json events = Json::array();
  for (const std::string& rank : ranks)
    for (Json& event : Json::parse(rank)) events.push_back(std::move(event));
  const std::filesystem::path path = directory / "trace.json";
  write_file_atomically(path, Json{{"displayTimeUnit", "ns"}, {"traceEvents", events}}.dump(1));
  return path;
}

}  // namespace shardlings
