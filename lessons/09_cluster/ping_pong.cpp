#include "lessons/09_cluster/ping_pong.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "clock/cluster_file.h"
#include "tensor/ops.h"

namespace shardlings::lesson09 {

namespace {

constexpr int kRoundTrips = 16;
constexpr std::int64_t kSmallestBytes = 1 << 10, kLargestBytes = 4 << 20;

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// One way there and back.
void round_trip(World& world, const Tensor& ball, int other) {
  Communicator& all = world.all();
  if (all.rank() == 0) {
    all.send(ball, other, "ball");
    all.receive(ball, other, "ball");
  } else {
    all.receive(ball, 0, "ball");
    all.send(ball, 0, "ball");
  }
  world.device().synchronize();
}

}  // namespace

std::vector<TimedMessage> ping_pong(World& world, int other) {
  std::vector<TimedMessage> points;
  for (std::int64_t bytes = kSmallestBytes; bytes <= kLargestBytes; bytes *= 4) {
    const Tensor ball(world.device(), DType::f32, {bytes / 4}, "ball", Category::communication);
    fill(ball, 1);
    world.all().barrier();
    std::vector<double> seconds;
    if (world.rank() == 0 || world.rank() == other)
      for (int i = 0; i < kRoundTrips; ++i)
        seconds.push_back(seconds_of([&] { round_trip(world, ball, other); }));
    if (world.rank() == 0)
      points.push_back({static_cast<double>(bytes), std::ranges::min(seconds) / 2});
  }
  world.all().barrier();
  return points;
}

Cluster fitted_cluster(World& world) {
  Cluster cluster = world.clock().cluster();
  std::vector<TimedMessage> inside, between;
  for (int other = 1; other < world.all().size(); ++other) {
    const bool same_node = other < cluster.chips_per_node;
    std::ranges::copy(ping_pong(world, other), std::back_inserter(same_node ? inside : between));
  }
  cluster.name = "fitted";
  if (!inside.empty()) cluster.inside = fit_link("inside", inside);
  if (!between.empty()) cluster.between = fit_link("between", between);
  return cluster;
}

void fit_to_file(World& world, const std::filesystem::path& path) {
  if (world.all().size() < 2)
    fail(ExitCode::usage, "--fit: a ping-pong takes two ranks at least, for instance --ranks 4");
  const std::string was = world.clock().cluster().name;
  const Cluster cluster = fitted_cluster(world);
  if (world.rank() != 0) return;
  write_cluster(
      cluster,
      fmt::format("links: ping-pong of {} ranks, {} to a node, device {}; chip, and a link "
                  "without a pair: {}",
                  world.all().size(), cluster.chips_per_node, world.device().kind(), was),
      path);
}

}  // namespace shardlings::lesson09
