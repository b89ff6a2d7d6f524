// The collectives against a single rank's sum and against common's rings: every number of ranks,
// shards with and without remainders and empty ones, both dtypes, CPU and guarded device.
//
// Each of these was broken once, and the test named failed:
//   a reduce-scatter that ends a step early        "the sum of a single rank, ..."
//   the ring turned around                          "the bits of common's rings"
//   an all-gather that sends its own shard only    "the sum of a single rank, ..."
//   blocks of the all-to-all by the sender's shard  "all-to-all: ..."
//   a shard sent once too often                     "bytes and messages are the closed form"
//   send before receive on every rank               hangs in "the sum of a single rank, ..."
#include "lessons/08_collectives/ring.h"
#include "base/random.h"
#include "lessons/08_collectives/halving.h"
#include "tests/support/catch.h"
#include "tests/support/ranks.h"

using namespace shardlings;
using namespace shardlings::lesson08;

namespace {

using Values = std::vector<double>;
using AllReduce = void (*)(const Tensor&, Communicator&);

constexpr std::int64_t kCounts[] = {1, 2, 3, 5, 7, 10, 1000};

// Whole numbers, whose sums are exact in any order, or fractions, whose sums are not.
Values values_of(int rank, std::int64_t N, bool whole = true) {
  const RandomStream random(1, fmt::format("rank {}", rank));
  Values values;
  for (std::int64_t i = 0; i < N; ++i) {
    const double u = random.uniform(static_cast<std::uint64_t>(i));
    values.push_back(whole ? std::floor(1000 * u) : static_cast<float>(u - 0.5));
  }
  return values;
}

Values sum_of_all(int n, std::int64_t N) {
  Values sum(static_cast<std::size_t>(N));
  for (int rank = 0; rank < n; ++rank) {
    const Values its = values_of(rank, N);
    for (std::size_t i = 0; i < its.size(); ++i) sum[i] += its[i];
  }
  return sum;
}

Tensor put(World& world, DType dtype, const Values& values) {
  const Tensor x(world.device(), dtype, {std::ssize(values)}, "x");
  x.from_doubles(values);
  return x;
}

Values part(const Values& x, const Span& span) {
  return {x.begin() + span.begin, x.begin() + span.begin + span.count};
}

void require_equal(const Tensor& got, const Values& expected, std::string_view what) {
  const Values values = got.to_doubles();
  require(values.size() == expected.size(), "{}: {} values, expected {}", what, values.size(),
          expected.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    require(values[i] == expected[i], "{}: element {} of {} is {} instead of {}", what, i,
            values.size(), values[i], expected[i]);
}

void on_every_device(const std::function<void(int n, World&, DType, std::int64_t N)>& body) {
  for (const char* backend : {"cpu", "guarded"})
    for (int n = 1; n <= 4; ++n)
      on_ranks(n, small_world(backend), [&](World& world) {
        for (const DType dtype : {DType::f32, DType::f64})
          for (const std::int64_t N : kCounts) body(n, world, dtype, N);
      });
}

// What a rank sends in `work`.
TrafficCount sent_in(World& world, const std::function<void()>& work) {
  const TrafficLedger::Rows before = world.traffic().total();
  work();
  TrafficCount sent;
  for (const auto& [key, count] : world.traffic().since(before)) {
    sent.calls += count.calls;
    sent.messages += count.messages;
    sent.sent_bytes += count.sent_bytes;
  }
  return sent;
}

void require_sent(const TrafficCount& got, std::int64_t calls, std::int64_t messages,
                  std::int64_t elements, std::string_view what) {
  require(got.calls == calls && got.messages == messages && got.sent_bytes == 8 * elements,
          "{}: {} calls, {} messages, {} bytes instead of {}, {}, {}", what, got.calls,
          got.messages, got.sent_bytes, calls, messages, 8 * elements);
}

}  // namespace

TEST_CASE("the sum of a single rank, exactly: star, ring and halving") {
  const AllReduce algorithm =
      GENERATE(AllReduce(star_all_reduce), AllReduce(all_reduce), AllReduce(halving_all_reduce));
  on_every_device([&](int n, World& world, DType dtype, std::int64_t N) {
    const Tensor x = put(world, dtype, values_of(world.rank(), N));
    algorithm(x, world.dp());
    require_equal(x, sum_of_all(n, N), "all-reduce");
  });
}

TEST_CASE("halves and foldings of up to nine ranks") {
  for (int n = 5; n <= 9; ++n)
    on_ranks(n, small_world(), [n](World& world) {
      for (const std::int64_t N : kCounts) {
        const Tensor x = put(world, DType::f64, values_of(world.rank(), N));
        halving_all_reduce(x, world.dp());
        require_equal(x, sum_of_all(n, N), "halving");
      }
    });
}

TEST_CASE("the bits of common's rings, phase by phase") {
  on_every_device([](int n, World& world, DType dtype, std::int64_t N) {
    Communicator& dp = world.dp();
    const Values fractions = values_of(dp.rank(), N, false);
    const Span place = shard(N, n, dp.rank());
    const Tensor x = put(world, dtype, fractions), y = put(world, dtype, fractions);
    const Tensor mine = y.columns(place.begin, place.begin + place.count);
    reduce_scatter(x, dp);
    dp.reduce_scatter(mine, y, "y");
    require_equal(x.columns(place.begin, place.begin + place.count), mine.to_doubles(), "scatter");
    all_gather(x, dp);
    dp.all_gather(y, mine, "y");
    require_equal(x, y.to_doubles(), "gather");
    const Tensor z = put(world, dtype, fractions);
    dp.all_reduce(z, "z");
    require_equal(x, z.to_doubles(), "all-reduce");
  });
}

TEST_CASE("all-to-all: block r of every rank is with rank r, in the order of ranks") {
  on_every_device([](int n, World& world, DType dtype, std::int64_t N) {
    const Span place = shard(N, n, world.rank());
    Values expected;
    for (int from = 0; from < n; ++from) {
      const Values block = part(values_of(from, N), place);
      expected.insert(expected.end(), block.begin(), block.end());
    }
    const Tensor out = put(world, dtype, Values(expected.size(), 1e30));
    all_to_all(out, put(world, dtype, values_of(world.rank(), N)), world.dp());
    require_equal(out, expected, "all-to-all");
  });
}

TEST_CASE("bytes and messages are the closed form, on every rank") {
  for (int n = 1; n <= 5; ++n)
    on_ranks(n, small_world(), [n](World& world) {
      Communicator& dp = world.dp();
      const int right = (dp.rank() + 1) % n;
      for (const std::int64_t N : kCounts) {
        const auto size = [&](int r) { return shard(N, n, r).count; };
        const std::int64_t filled = (N + size(0) - 1) / size(0);  // shards that are not empty
        const auto others = [&](int r) { return filled - (size(r) > 0 ? 1 : 0); };
        const Tensor x = put(world, DType::f64, values_of(dp.rank(), N));
        require_sent(sent_in(world, [&] { reduce_scatter(x, dp); }), n - 1, others(dp.rank()),
                     N - size(dp.rank()), "reduce-scatter");
        require_sent(sent_in(world, [&] { all_gather(x, dp); }), n - 1, others(right),
                     N - size(right), "all-gather");
        const Tensor out =
            put(world, DType::f64, Values(static_cast<std::size_t>(n * size(dp.rank())), 0));
        require_sent(sent_in(world, [&] { all_to_all(out, x, dp); }), n - 1, others(dp.rank()),
                     N - size(dp.rank()), "all-to-all");
        const std::int64_t to_others = dp.rank() == 0 ? n - 1 : 1;
        require_sent(sent_in(world, [&] { star_all_reduce(x, dp); }), to_others, to_others,
                     to_others * N, "star");
      }
    });
}

TEST_CASE("any algorithm sends 2 (n-1) N in all; they differ in steps and in the busiest port") {
  struct Expected {
    AllReduce all_reduce;
    double steps, busiest;  // of N = 240, in elements
  };
  const auto of = [](int n) {
    const double fair = 2.0 * 240 * (n - 1) / n;
    const double steps_of_halving[] = {0, 0, 2, 3, 4, 5, 5, 5, 6};
    const double busiest_of_halving[] = {0, 0, 240, 480, 360, 600, 600, 600, 420};
    return std::vector<Expected>{{star_all_reduce, n - 1.0, 240.0 * (n - 1)},
                                 {all_reduce, 2.0 * (n - 1), fair},
                                 {halving_all_reduce, steps_of_halving[n], busiest_of_halving[n]}};
  };
  for (const int n : {2, 3, 4, 5, 6, 8})
    on_ranks(n, small_world(), [&](World& world) {
      for (const Expected& expected : of(n)) {
        const Tensor x = put(world, DType::f64, values_of(world.rank(), 240));
        const TrafficCount sent = sent_in(world, [&] { expected.all_reduce(x, world.dp()); });
        const auto bytes = static_cast<double>(sent.sent_bytes);
        require(world.dp().sum(bytes) == 8.0 * 2 * (n - 1) * 240, "{} ranks, all bytes", n);
        const double busiest = world.dp().max(bytes), steps = world.dp().max(1.0 * sent.calls);
        require(busiest == 8 * expected.busiest, "{} ranks, busiest {}", n, busiest / 8);
        require(steps == expected.steps, "{} ranks, {} steps", n, steps);
      }
    });
}

TEST_CASE("the ring needs room for one shard, which is gone afterwards") {
  on_ranks(3, small_world(), [](World& world) {
    const Tensor x = put(world, DType::f64, values_of(world.rank(), 10));
    all_reduce(x, world.dp());
    require(world.device_memory().category_peaks()[Category::communication] == 8 * 4, "one shard");
    require(world.device_memory().now()[Category::communication] == 0, "something is left");
  });
}

TEST_CASE("shards are views, and there is at least one") {
  on_ranks(1, small_world(), [](World& world) {
    const Tensor x = put(world, DType::f64, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    REQUIRE(shards(x, 4, 1, 3).to_doubles() == Values{3, 4, 5, 6, 7, 8});
    REQUIRE(shards(x, 4, 0, 4).storage() == x.storage());
    REQUIRE_THROWS_AS(shards(x, 4, 2, 2), Error);
    REQUIRE_THROWS_AS(shards(x, 4, 3, 5), Error);
  });
}
