// The trace of a step: what each rank did, in a form that trace viewers read.
#include "course/trace.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "course/step_meter.h"
#include "tensor/ops.h"
#include "tests/driver/shell.h"
#include "tests/support/catch.h"
#include "tests/support/ranks.h"

using namespace shardlings;

TEST_CASE("a trace has a process for every rank and a thread for every lane") {
  const TemporaryFolder folder;
  const std::vector<ClockEvent> events{
      {"compute", "", 0, 1}, {"dp", "send x", 1, 3}, {"compute", "h.0", 1, 2.5}};
  const auto path = write_trace({trace_of_rank(events, 0), trace_of_rank({}, 1)}, folder.path());
  CHECK(path == folder.path() / "trace.json");
  std::ifstream file(path);
  const auto expected = nlohmann::json::parse(R"({"displayTimeUnit": "ns", "traceEvents": [
    {"name": "process_name", "ph": "M", "pid": 0, "tid": 0, "args": {"name": "rank 0"}},
    {"name": "thread_name", "ph": "M", "pid": 0, "tid": 0, "args": {"name": "compute"}},
    {"name": "other", "ph": "X", "pid": 0, "tid": 0, "ts": 0.0, "dur": 1e6},
    {"name": "thread_name", "ph": "M", "pid": 0, "tid": 1, "args": {"name": "dp"}},
    {"name": "send x", "ph": "X", "pid": 0, "tid": 1, "ts": 1e6, "dur": 2e6},
    {"name": "h.0", "ph": "X", "pid": 0, "tid": 0, "ts": 1e6, "dur": 1.5e6},
    {"name": "process_name", "ph": "M", "pid": 1, "tid": 0, "args": {"name": "rank 1"}}]})");
  CHECK(nlohmann::json::parse(file) == expected);
}

TEST_CASE("a step's events begin with it, and have the names of layers and calls") {
  on_ranks(2, small_world("cpu", "h100x8"), [](World& world) {
    StepMeter meter(world);
    const Tensor x(world.device(), DType::f32, {1 << 20}, "x");
    fill(x, 1);
    meter.begin();
    {
      const Range range(world.device(), "layer");
      scale(x, 2);
    }
    world.dp().all_reduce(x, "x");
    meter.end();
    const std::vector<ClockEvent>& events = meter.events();
    require(events.size() == 3, "{} events", events.size());
    require(events[0].lane == "compute" && events[0].name == "layer" && events[0].begin == 0,
            "{} at {}", events[0].name, events[0].begin);
    require(events[1].lane == "compute" && events[1].name == "waits for all_reduce x" &&
                events[1].begin == events[0].end,
            "{} on {}", events[1].name, events[1].lane);
    require(events[2].lane == "dp" && events[2].name == "all_reduce x" &&
                events[2].end == events[1].end,
            "{} on {}", events[2].name, events[2].lane);
  });
}
