// What communication leaves in the ledgers: bytes where they leave, buffers while they are there.
#include "tensor/ops.h"
#include "tests/support/catch.h"
#include "tests/support/ranks.h"

using namespace shardlings;

namespace {

TrafficCount row(World& world, const std::string& operation, const std::string& what) {
  TrafficCount found;
  for (const auto& [key, count] : world.traffic().total())
    if (key.axis == "dp" && key.operation == operation && key.what == what) found = count;
  return found;
}

void require_row(World& world, const std::string& operation, const std::string& what,
                 std::int64_t messages, std::int64_t payload, std::int64_t sent) {
  const TrafficCount count = row(world, operation, what);
  require(count.calls == 1 && count.messages == messages && count.payload_bytes == payload &&
              count.sent_bytes == sent,
          "{} {} on rank {}: {} calls, {} messages, {} payload, {} sent", operation, what,
          world.rank(), count.calls, count.messages, count.payload_bytes, count.sent_bytes);
}

}  // namespace

TEST_CASE("traffic: 10 elements of f64 on 3 ranks, in shards of 4, 4 and 2") {
  for (const char* backend : {"cpu", "guarded"})
    on_ranks(3, small_world(backend), [](World& world) {
      Communicator& dp = world.dp();
      const int r = dp.rank();
      const Tensor x(world.device(), DType::f64, {10}, "x");
      fill(x, 1);
      const Span place = shard(10, 3, r);
      const Tensor mine = x.columns(place.begin, place.begin + place.count);
      const std::int64_t others[] = {6, 6, 8};  // all shards but one's own
      const auto left = static_cast<std::size_t>((r + 2) % 3), own = static_cast<std::size_t>(r),
                 right = static_cast<std::size_t>((r + 1) % 3);

      dp.reduce_scatter(mine, x, "gradients");
      require_row(world, "reduce_scatter", "gradients", 2, 80, 8 * others[own]);
      dp.all_gather(x, mine, "parameters");
      require_row(world, "all_gather", "parameters", 2, 80, 8 * others[right]);
      dp.all_reduce(x, "x");
      require_row(world, "all_reduce", "x", 4, 80, 8 * (others[own] + others[right]));
      dp.broadcast(x, 1, "x");
      require_row(world, "broadcast", "x", left == 1 || own == 1 ? 1 : 0, 80, own == 0 ? 0 : 80);
      if (r == 0) dp.send(x, 2, "x");
      if (r == 2) dp.receive(x, 0, "x");
      if (r == 0) require_row(world, "send", "x", 1, 80, 80);
      require(row(world, "send", "x").calls == (r == 0 ? 1 : 0), "rank {} sent", r);

      dp.sum(1);
      require_row(world, "all_reduce", "scalars", 0, 8, 0);
      const auto before = world.traffic().total();
      dp.barrier();
      dp.agree({1});
      dp.gather_texts("text");
      dp.split(0, 0, "twin");
      require(world.traffic().since(before).empty(), "control traffic is in the ledger");
    });
}

TEST_CASE("a group of one sends nothing and counts nothing") {
  on_ranks(1, small_world(), [](World& world) {
    const Tensor x(world.device(), DType::f32, {5}, "x");
    fill(x, 2);
    world.dp().all_reduce(x, "x");
    world.dp().reduce_scatter(x, x, "x");
    world.dp().all_gather(x, x, "x");
    world.dp().broadcast(x, 0, "x");
    world.dp().sum(1);
    require(world.traffic().total().empty(), "traffic of one rank");
    require(x.to_doubles() == std::vector<double>(5, 2), "changed");
  });
}

TEST_CASE("bytes are told apart by the link they cross") {
  Options options = small_world("cpu", "h100x8");
  on_ranks(2, options, [](World& world) {
    const Tensor x(world.device(), DType::f32, {8}, "x");
    fill(x, 1);
    world.dp().all_reduce(x, "x");
    const auto count = row(world, "all_reduce", "x");
    require(count.sent_bytes_by_link ==
                (std::map<std::string, std::int64_t>{{world.clock().cluster().inside.name, 32}}),
            "links");
  });
}

TEST_CASE(
    "memory: one shard of scratch from start to wait; staged through the host, two more there") {
  for (const std::string backend : {"cpu", "guarded"})
    on_ranks(3, small_world(backend), [&](World& world) {
      const Tensor x(world.device(), DType::f32, {10}, "x");
      fill(x, 1);
      const auto now = [&](MemoryLedger& ledger) { return ledger.now()[Category::communication]; };
      Pending pending = world.dp().start_all_reduce(x, "x");
      require(now(world.device_memory()) == 16, "{} bytes of scratch", now(world.device_memory()));
      const std::int64_t staged = backend == "cpu" ? 0 : 32;
      require(now(world.host_memory()) == staged, "{} bytes staged", now(world.host_memory()));
      pending.wait();
      require(now(world.device_memory()) == 0 && now(world.host_memory()) == 0, "buffers are left");
      world.dp().all_gather(
          x,
          x.columns(shard(10, 3, world.rank()).begin,
                    shard(10, 3, world.rank()).begin + shard(10, 3, world.rank()).count),
          "x");
      require(world.device_memory().category_peaks()[Category::communication] == 16,
              "a gather needs no scratch");
    });
}

TEST_CASE("what is sent once more, because forward ran once more, has a row of its own") {
  on_ranks(2, small_world(), [](World& world) {
    const Tensor x(world.device(), DType::f32, {4}, "x");
    fill(x, 1);
    world.dp().all_reduce(x, "x");
    {
      const WorkLedger::Recomputation again(world.work());
      world.dp().all_reduce(x, "x");
    }
    require(world.traffic().total().size() == 2, "{} rows", world.traffic().total().size());
    for (const auto& [key, count] : world.traffic().total())
      require(count.sent_bytes == 16, "{} bytes", count.sent_bytes);
  });
}
