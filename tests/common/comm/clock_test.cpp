// The modelled clock through the communicator: it sees what ranks do, never when they really do it.
#include "tensor/ops.h"
#include "tests/support/catch.h"
#include "tests/support/ranks.h"

using namespace shardlings;

namespace {

const Options kOptions = small_world("cpu", "h100x8");

void require_near(double got, double expected, const char* what) {
  require(std::abs(got - expected) <= 1e-12 * std::abs(expected), "{}: {} instead of {}", what, got,
          expected);
}

// As long as it would take to compute for `seconds`.
void compute(World& world, double seconds) {
  world.clock().compute(seconds * world.clock().cluster().chip.flops, 0);
}

// From one moment of rest to the next.
ClockTime time_of(World& world, const std::function<void()>& work) {
  world.clock().wait_until(world.all().agree({world.clock().now()}).front());
  const ClockTime before = world.clock().spent();
  work();
  return world.clock().spent() - before;
}

Tensor ones(World& world, std::int64_t N) {
  const Tensor x(world.device(), DType::f32, {N}, "x");
  fill(x, 1);
  return x;
}

}  // namespace

TEST_CASE("a ring all-reduce takes 2 (n-1) (alpha + bytes / (n beta))") {
  for (int n = 2; n <= 4; ++n)
    on_ranks(n, kOptions, [n](World& world) {
      const std::int64_t N = 12'000'000;
      const Tensor x = ones(world, N);
      const ClockTime time = time_of(world, [&] { world.dp().all_reduce(x, "x"); });
      const Link& link = world.clock().cluster().inside;
      const double transfer = 2 * (n - 1) * link.seconds(4.0 * N / n);
      require(time.compute == 0, "compute {}", time.compute);
      require_near(time.total(), transfer, "an all-reduce");
      require(time.bubble == 0, "bubble {}", time.bubble);
    });
}

TEST_CASE("the others wait for a late rank: that is bubble, not communication") {
  on_ranks(3, kOptions, [](World& world) {
    const Tensor x = ones(world, 3'000'000);
    const double late = 5e-3;
    const ClockTime time = time_of(world, [&] {
      if (world.rank() == 1) compute(world, late);
      world.dp().all_gather(x, x.columns(world.rank() * 1'000'000, (world.rank() + 1) * 1'000'000),
                            "x");
    });
    const double transfer = 2 * world.clock().cluster().inside.seconds(4e6);
    require_near(time.total(), late + transfer, "a gather with a late rank");
    require_near(time.exposed_communication, transfer, "its communication");
    require_near(1 + time.bubble, 1 + (world.rank() == 1 ? 0 : late), "its bubble");
  });
}

TEST_CASE("computing between start and wait hides a transfer") {
  on_ranks(2, kOptions, [](World& world) {
    const Tensor x = ones(world, 2'000'000);
    const double transfer = world.clock().cluster().inside.seconds(4e6);
    for (const double share : {0.25, 2.0}) {
      const ClockTime time = time_of(world, [&] {
        Pending pending = world.dp().start_all_gather(
            x, x.columns(world.rank() * 1'000'000, (world.rank() + 1) * 1'000'000), "x");
        compute(world, share * transfer);
        pending.wait();
      });
      require_near(time.total(), std::max(1.0, share) * transfer, "overlapped");
      require_near(1 + time.exposed_communication, 1 + std::max(0.0, 1 - share) * transfer,
                   "what is left to see of it");
    }
  });
}

TEST_CASE("a message arrives alpha + bytes / beta after it left; its sender goes on at once") {
  on_ranks(2, kOptions, [](World& world) {
    const Tensor x = ones(world, 1'000'000);
    const double late = 1e-3, transfer = world.clock().cluster().inside.seconds(4e6);
    const ClockTime time = time_of(world, [&] {
      if (world.rank() == 0) {
        compute(world, late);
        world.dp().send(x, 1, "x");
        world.dp().send(x, 1, "x");
      } else {
        world.dp().receive(x, 0, "x");
        world.dp().receive(x, 0, "x");
      }
    });
    // The second waits for the lane.
    require_near(time.total(), world.rank() == 0 ? late : late + 2 * transfer, "two messages");
    if (world.rank() == 1) require_near(time.bubble, late, "bubble");
  });
}

TEST_CASE("both ways at once: a ring of messages takes the time of the collective") {
  on_ranks(3, kOptions, [](World& world) {
    Communicator& dp = world.dp();
    const std::int64_t shard = 1'000'000;
    const Tensor x = ones(world, 3 * shard);
    const auto of = [&](int rank) {
      const std::int64_t r = (rank + 3) % 3;
      return x.columns(r * shard, (r + 1) * shard);
    };
    const ClockTime messages = time_of(world, [&] {
      for (int i = 0; i < 2; ++i)
        dp.send_receive(of(dp.rank() - i - 1), (dp.rank() + 2) % 3, of(dp.rank() - i),
                        (dp.rank() + 1) % 3, "x");
    });
    const ClockTime gather = time_of(world, [&] { dp.all_gather(x, of(dp.rank()), "x"); });
    require_near(messages.total(), gather.total(), "a ring of messages");
  });
}

TEST_CASE("numbers for everybody cost one latency") {
  on_ranks(4, kOptions, [](World& world) {
    const ClockTime time = time_of(world, [&] { world.dp().sum(1); });
    require_near(time.total(), world.clock().cluster().inside.latency, "a sum");
  });
}

TEST_CASE("the same run takes the same time, however its threads race") {
  std::vector<double> ends;
  for (int repetition = 0; repetition < 5; ++repetition)
    on_ranks(4, kOptions, [&](World& world) {
      const Tensor x = ones(world, 1003), y = ones(world, 77);
      for (int i = 0; i < 10; ++i) {
        Pending first = world.dp().start_all_reduce(x, "x"),
                second = world.dp().start_all_reduce(y, "y");
        compute(world, 1e-6 * (world.rank() + i % 3));
        second.wait();
        first.wait();
      }
      const double end = world.all().agree({world.clock().now()}).front();
      if (world.rank() == 0) ends.push_back(end);
    });
  for (const double end : ends) require(end == ends[0], "{} and {}", end, ends[0]);
}

TEST_CASE("without a cluster no time passes") {
  on_ranks(2, small_world(), [](World& world) {
    world.dp().all_reduce(ones(world, 100), "x");
    require(world.clock().now() == 0, "{} s", world.clock().now());
  });
}
