#include "course/trace.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/atomic_file.h"

namespace shardlings {

namespace {

// What a viewer calls a process or thread.
std::string title(const char* what, int rank, std::ptrdiff_t thread, const std::string& name) {
  return fmt::format(
      R"({{"name": "{}", "ph": "M", "pid": {}, "tid": {}, "args": {{"name": "{}"}}}})", what, rank,
      thread, name);
}

}  // namespace

std::string trace_of_rank(const std::vector<ClockEvent>& events, int rank) {
  std::vector<std::string> trace{title("process_name", rank, 0, fmt::format("rank {}", rank))};
  std::vector<std::string> lanes;  // a thread each
  for (const ClockEvent& event : events) {
    const auto lane = std::ranges::find(lanes, event.lane);
    const std::ptrdiff_t thread = lane - lanes.begin();
    if (lane == lanes.end()) {
      lanes.push_back(event.lane);
      trace.push_back(title("thread_name", rank, thread, event.lane));
    }
    constexpr double kMicroseconds = 1e6;
    trace.push_back(
        fmt::format(R"({{"name": "{}", "ph": "X", "pid": {}, "tid": {}, "ts": {}, "dur": {}}})",
                    event.name.empty() ? "other" : event.name, rank, thread,
                    kMicroseconds * event.begin, kMicroseconds * (event.end - event.begin)));
  }
  return fmt::format("{}", fmt::join(trace, ",\n"));
}

std::filesystem::path write_trace(const std::vector<std::string>& ranks,
                                  const std::filesystem::path& directory) {
  const std::filesystem::path path = directory / "trace.json";
  write_file_atomically(path,
                        fmt::format("{{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n{}\n]}}\n",
                                    fmt::join(ranks, ",\n")));
  return path;
}

}  // namespace shardlings
