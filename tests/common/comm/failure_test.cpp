// Ranks that go wrong: all end, with one message that says who did what.
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <thread>

#include "device/cpu/cpu_device.h"
#include "tensor/ops.h"
#include "tests/support/catch.h"
#include "tests/support/ranks.h"

using namespace shardlings;
using Catch::Matchers::Contains;

namespace {

std::string failure_of(int n, const std::function<void(World&)>& body) {
  try {
    on_ranks(n, small_world(), body);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// A rank with a watchdog of so much patience.
struct Impatient {
  Impatient(RankStart start, double patience_seconds)
      : recorder(std::move(start.recorder)),
        progress(recorder, start.failed, patience_seconds),
        all(std::move(start.transport), "all", {0, 1, 2}, {traffic, clock, work, host, progress}) {}

  TrafficLedger traffic;
  Clock clock;
  WorkLedger work;
  MemoryLedger memory{"host"};
  CpuDevice host{memory, work, 1};
  FlightRecorder recorder;
  Progress progress;
  Communicator all;
};

}  // namespace

TEST_CASE("calls that differ name both sides and end every rank") {
  const auto with = [](const std::function<void(World&, const Tensor&)>& of_rank_1) {
    return failure_of(3, [&](World& world) {
      const Tensor x(world.device(), DType::f32, {6}, "x");
      fill(x, 1);
      if (world.rank() == 1)
        of_rank_1(world, x);
      else
        world.dp().all_reduce(x, "x");
      world.dp().barrier();
    });
  };
  CHECK(with([](World& world, const Tensor& x) { world.dp().all_reduce(x, "x"); }).empty());
  const std::string right = "all_reduce of 6 f32";
  CHECK_THAT(with([](World& world, const Tensor& x) { world.dp().broadcast(x, 0, "x"); }),
             Contains(right) && Contains("broadcast of 6 f32, root 0"));
  CHECK_THAT(
      with([](World& world, const Tensor& x) { world.dp().all_reduce(x.columns(0, 5), "x"); }),
      Contains(right) && Contains("all_reduce of 5 f32"));
  CHECK_THAT(with([](World& world, const Tensor&) {
               const Tensor y(world.device(), DType::f64, {6}, "y");
               fill(y, 1);
               world.dp().all_reduce(y, "x");
             }),
             Contains(right) && Contains("all_reduce of 6 f64"));
  CHECK_THAT(with([](World& world, const Tensor& x) { world.dp().all_reduce(x, "other"); }),
             Contains("(x)") || Contains("(other)"));
  CHECK_THAT(
      with([](World& world, const Tensor& x) { world.dp().all_reduce(x, "x", Reduction::max); }),
      Contains("every rank of a group makes the same calls in the same order"));
}

TEST_CASE("a message and its receiver that do not fit name both sides") {
  CHECK_THAT(failure_of(2,
                        [](World& world) {
                          const Tensor x(world.device(), DType::f32, {6}, "x");
                          fill(x, 1);
                          if (world.rank() == 0) world.dp().send(x, 1, "x");
                          if (world.rank() == 1) world.dp().receive(x.columns(0, 4), 0, "x");
                        }),
             Contains("send of 4 f32") && Contains("send of 6 f32"));
}

TEST_CASE("an exception in one rank wakes those that wait for it, and is the one that is told") {
  const auto start = std::chrono::steady_clock::now();
  CHECK(failure_of(4, [](World& world) {
          if (world.rank() == 2) fail(ExitCode::bad_data, "rank 2 gave up");
          const Tensor x(world.device(), DType::f32, {6}, "x");
          fill(x, 1);
          world.dp().all_reduce(x, "x");
        }) == "rank 2 gave up");
  // Far below the watchdog's 30 s: they did not wait for it.
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(15));
}

TEST_CASE("when no rank gets on, the watchdog names the last calls of each") {
  const auto failure = run_as_threads(3, [](RankStart start) {
    Impatient rank(std::move(start), 0.3);
    rank.all.barrier();
    const Tensor x(rank.host, DType::f32, {6}, "x");
    fill(x, 1);
    if (rank.all.rank() != 1) rank.all.all_reduce(x, "gradients");
    // Rank 1 is gone; the others wait for it.
  });
  REQUIRE(failure.has_value());
  try {
    std::rethrow_exception(failure->error);
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::hang);
    CHECK_THAT(error.what(), Contains("no rank has got on for 0 s"));
    CHECK_THAT(error.what(),
               Contains("rank 0: all all_reduce gradients, operation 1: all_reduce of 6 f32"));
    CHECK_THAT(error.what(), Contains("rank 1: all scalars scalars, operation 0"));
  }
}

TEST_CASE("the watchdog is patient while one rank still works") {
  const auto failure = run_as_threads(3, [](RankStart start) {
    Impatient rank(std::move(start), 0.3);
    if (rank.all.rank() == 1)
      for (int i = 0; i < 10; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        rank.recorder.beat();
      }
    rank.all.barrier();
  });
  CHECK_FALSE(failure.has_value());
}

// In the tests of overlap, what is under way is poisoned: this is what they rely on.
TEST_CASE("a poisoned tensor is NaN until wait, which brings the result whatever was written") {
  const std::string backend = GENERATE("cpu", "guarded");
  ::setenv("SHARDLINGS_POISON", "1", 1);
  on_ranks(3, small_world(backend), [](World& world) {
    const auto at = [](const Tensor& x, std::size_t i) { return x.to_doubles()[i]; };
    const int rank = world.rank();
    const Tensor x(world.device(), DType::f64, {7}, "x");
    fill(x, rank + 1);
    Pending reduced = world.dp().start_all_reduce(x, "x");
    require(std::isnan(at(x, 0)) && std::isnan(at(x, 6)), "x is {} before wait", at(x, 0));
    for (int i = 0; i < 20; ++i) world.dp().barrier();  // the sum has arrived by now
    require(std::isnan(at(x, 0)) && std::isnan(at(x, 6)), "x is {} before wait", at(x, 0));
    fill(x, 100);
    reduced.wait();
    require(at(x, 0) == 6 && at(x, 6) == 6, "a sum of {}", at(x, 6));

    // The shard beside what is gathered, and in it.
    const Span place = shard(7, 3, rank);
    const Tensor mine(world.device(), DType::f64, {place.count}, "mine");
    fill(mine, rank);
    Pending gathered = world.dp().start_all_gather(x, mine, "x");
    require(std::isnan(at(x, 0)) && at(mine, 0) == rank, "x is {} before wait", at(x, 0));
    gathered.wait();
    require(x.to_doubles() == std::vector<double>{0, 0, 0, 1, 1, 1, 2}, "gathered");
    const Tensor in_place = x.columns(place.begin, place.begin + place.count);
    fill(in_place, 10 + rank);
    world.dp().all_gather(x, in_place, "x");
    require(x.to_doubles() == std::vector<double>{10, 10, 10, 11, 11, 11, 12}, "gathered in place");

    Pending scattered = world.dp().start_reduce_scatter(in_place, x, "x");
    require(std::isnan(at(in_place, 0)), "a shard of {} before wait", at(in_place, 0));
    scattered.wait();
    require(at(in_place, 0) == 3 * (10 + rank), "a shard of {}", at(in_place, 0));
  });
  ::unsetenv("SHARDLINGS_POISON");
}

// Between processes nobody else would do it.
TEST_CASE("polling moves on what was started, up to the last message") {
  on_ranks(2, small_world(), [](World& world) {
    const Tensor x(world.device(), DType::f64, {7}, "x");
    fill(x, 1);
    Pending pending = world.dp().start_all_reduce(x, "x");
    const auto sent = [&] { return world.traffic().total().begin()->second.messages; };
    while (sent() < 2) world.dp().poll();
    pending.wait();
    require(x.to_doubles() == std::vector<double>(7, 2), "the sum");
  });
}
