// Every call against a serial computation: n in {1, 2, 3, 4, 5}, CPU and guarded device, odd
// counts.
#include "comm/communicator.h"

#include <mutex>

#include "base/random.h"
#include "tests/support/catch.h"
#include "tests/support/ranks.h"

using namespace shardlings;

namespace {

using Values = std::vector<double>;

constexpr std::int64_t kCounts[] = {1, 3, 5, 8, 1023};

Values values_of(int rank, std::int64_t N) {
  const RandomStream random(1, fmt::format("rank {}", rank));
  Values values;
  for (std::int64_t i = 0; i < N; ++i)
    values.push_back(static_cast<float>(random.uniform(static_cast<std::uint64_t>(i)) - 0.5));
  return values;
}

Tensor put(Device& device, DType dtype, const Values& values) {
  const Tensor x(device, dtype, {std::ssize(values)}, "x");
  x.from_doubles(values);
  return x;
}

// What a tensor that will be written holds before.
Tensor poisoned(Device& device, DType dtype, std::int64_t N) {
  return put(device, dtype, Values(static_cast<std::size_t>(N), 1e30));
}

Values part(const Values& x, const Span& span) {
  return {x.begin() + span.begin, x.begin() + span.begin + span.count};
}

void require_near(const Tensor& got, const Values& expected, double tolerance) {
  const Values values = got.to_doubles();
  require(values.size() == expected.size(), "{} values, expected {}", values.size(),
          expected.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    require(std::abs(values[i] - expected[i]) <= tolerance, "element {} of {}: {} instead of {}", i,
            values.size(), values[i], expected[i]);
}

// In the order of the ring, as the values are added up there.
Values ring_sum(int n, std::int64_t N, bool in_f32) {
  Values sum(static_cast<std::size_t>(N));
  for (int s = 0; s < n; ++s) {
    const Span span = shard(N, n, s);
    for (std::int64_t i = span.begin; i < span.begin + span.count; ++i) {
      double total = values_of((s + 1) % n, N)[static_cast<std::size_t>(i)];
      for (int k = 2; k <= n; ++k) {
        total += values_of((s + k) % n, N)[static_cast<std::size_t>(i)];
        if (in_f32) total = static_cast<float>(total);
      }
      sum[static_cast<std::size_t>(i)] = total;
    }
  }
  return sum;
}

Values largest_of_all(int n, std::int64_t N) {
  Values largest = values_of(0, N);
  for (int r = 1; r < n; ++r) {
    const Values its = values_of(r, N);
    for (std::size_t i = 0; i < its.size(); ++i) largest[i] = std::max(largest[i], its[i]);
  }
  return largest;
}

void on_every_device(const std::function<void(int n, World&, DType, std::int64_t N)>& body) {
  for (const char* backend : {"cpu", "guarded"})
    for (int n = 1; n <= 5; ++n)
      on_ranks(n, small_world(backend), [&](World& world) {
        for (const DType dtype : {DType::f32, DType::f64})
          for (const std::int64_t N : kCounts) body(n, world, dtype, N);
      });
}

}  // namespace

TEST_CASE("all_reduce: the sum in the order of the ring, bitwise, and the maximum") {
  on_every_device([](int n, World& world, DType dtype, std::int64_t N) {
    Communicator& dp = world.dp();
    const Tensor x = put(world.device(), dtype, values_of(dp.rank(), N));
    dp.all_reduce(x, "x");
    require_near(x, ring_sum(n, N, dtype == DType::f32), 0);
    const Tensor y = put(world.device(), dtype, values_of(dp.rank(), N));
    dp.all_reduce(y, "y", Reduction::max);
    require_near(y, largest_of_all(n, N), 0);
  });
}

TEST_CASE("reduce_scatter and all_gather, with shards apart and in place") {
  on_every_device([](int n, World& world, DType dtype, std::int64_t N) {
    Communicator& dp = world.dp();
    const Span place = shard(N, n, dp.rank());
    const Values sum = ring_sum(n, N, dtype == DType::f32);
    const Tensor x = put(world.device(), dtype, values_of(dp.rank(), N)),
                 mine = poisoned(world.device(), dtype, place.count);
    dp.reduce_scatter(mine, x, "x");
    require_near(mine, part(sum, place), 0);
    const Tensor whole = poisoned(world.device(), dtype, N);
    dp.all_gather(whole, mine, "x");
    require_near(whole, sum, 0);

    const Tensor y = put(world.device(), dtype, values_of(dp.rank(), N)),
                 inside = y.columns(place.begin, place.begin + place.count);
    dp.reduce_scatter(inside, y, "y");
    require_near(inside, part(sum, place), 0);
    dp.all_gather(y, inside, "y");
    require_near(y, sum, 0);
  });
}

TEST_CASE("all_to_all, broadcast, gather and messages") {
  on_every_device([](int n, World& world, DType dtype, std::int64_t N) {
    Communicator& dp = world.dp();
    const int r = dp.rank();
    const Tensor out = poisoned(world.device(), dtype, n * N);
    dp.all_to_all(out, put(world.device(), dtype, values_of(r, n * N)), "x");
    Values expected;
    for (int from = 0; from < n; ++from) {
      const Values block = part(values_of(from, n * N), {r * N, N});
      expected.insert(expected.end(), block.begin(), block.end());
    }
    require_near(out, expected, 0);

    for (int root = 0; root < n; ++root) {
      const Tensor x = put(world.device(), dtype, values_of(r, N));
      dp.broadcast(x, root, "x");
      require_near(x, values_of(root, N), 0);
      const Tensor all = poisoned(world.device(), dtype, n * N);
      dp.gather(all, put(world.device(), dtype, values_of(r, N)), root, "x");
      Values every;
      for (int from = 0; from < n; ++from) {
        const Values its = values_of(from, N);
        every.insert(every.end(), its.begin(), its.end());
      }
      if (r == root) require_near(all, every, 0);
    }

    if (n == 1) return;
    const Tensor came = poisoned(world.device(), dtype, N);
    dp.send_receive(came, (r + n - 1) % n, put(world.device(), dtype, values_of(r, N)), (r + 1) % n,
                    "x");
    require_near(came, values_of((r + n - 1) % n, N), 0);
  });
}

TEST_CASE("integers and bf16 travel as they are") {
  for (const char* backend : {"cpu", "guarded"})
    on_ranks(3, small_world(backend), [](World& world) {
      Communicator& dp = world.dp();
      const Tensor tokens(world.device(), DType::i32, {5}, "tokens");
      const std::vector<std::int32_t> of_rank_2{7, -1, 0, 2147483647, 3};
      tokens.from_host<std::int32_t>(dp.rank() == 2 ? of_rank_2 : std::vector<std::int32_t>(5, 9));
      dp.broadcast(tokens, 2, "tokens");
      require(tokens.to_host<std::int32_t>() == of_rank_2, "other tokens");

      const Tensor x = put(world.device(), DType::bf16, {0, 0, 0}),
                   mine = put(world.device(), DType::bf16, {dp.rank() + 0.5});
      dp.all_gather(x, mine, "x");
      require_near(x, {0.5, 1.5, 2.5}, 0);
    });
}

TEST_CASE("numbers for everybody, in the order of ranks") {
  for (int n = 1; n <= 4; ++n)
    on_ranks(n, small_world(), [n](World& world) {
      Communicator& dp = world.dp();
      const double r = dp.rank();
      require((dp.sums({r, 1, -r}) == Values{n * (n - 1) / 2.0, 1.0 * n, -n * (n - 1) / 2.0}),
              "sums of {} ranks", n);
      require(dp.max(-r) == 0, "max of {} ranks", n);
      require((dp.agree({r, -r}) == Values{n - 1.0, 0}), "agree of {} ranks", n);
      const std::uint64_t hash = 0xfedc'ba98'7654'3210;  // more digits than a double has
      require(dp.all_equal(hash), "equal numbers on {} ranks", n);
      const std::uint64_t last = dp.rank() == n - 1 && n > 1 ? 1 : 0;
      require(dp.all_equal(hash + last) == (n == 1), "a last bit that differs, {} ranks", n);
      require(dp.all_equal(hash ^ (last << 63)) == (n == 1), "a first bit, {} ranks", n);
      dp.barrier();
      const auto texts = dp.gather_texts(std::string(static_cast<std::size_t>(dp.rank()), 'x'));
      require(std::ssize(texts) == (dp.rank() == 0 ? n : 0), "{} texts", texts.size());
      for (std::size_t i = 0; i < texts.size(); ++i)
        require(texts[i].size() == i, "text {} has {} letters", i, texts[i].size());
    });
}

TEST_CASE("groups of a 2 x 3 grid: rows, columns, and the last of them") {
  on_ranks(ProcessGrid({2, 1, 1, 3}), small_world(), [](World& world) {
    const int r = world.rank();
    require(world.dp().size() == 2 && world.dp().rank() == r / 3, "dp of rank {}", r);
    require(world.tp().size() == 3 && world.tp().rank() == r % 3, "tp of rank {}", r);
    require(world.pp().size() == 1 && world.cp().size() == 1, "pp and cp of rank {}", r);
    require(world.tp().sum(r) == (r < 3 ? 0 + 1 + 2 : 3 + 4 + 5), "row of rank {}", r);
    require(world.dp().sum(r) == 2 * (r % 3) + 3, "column of rank {}", r);
    const Tensor x = put(world.device(), DType::f64, {1.0 * r, 10.0 * r});
    world.tp().all_reduce(x, "x");
    world.dp().all_reduce(x, "x");
    require_near(x, {15, 150}, 0);
  });
}

TEST_CASE("operations may be waited for in any order, across groups") {
  on_ranks(ProcessGrid({2, 1, 1, 2}), small_world("guarded"), [](World& world) {
    const int r = world.rank();
    const auto x = [&](double value) { return put(world.device(), DType::f64, Values(9, value)); };
    const Tensor a = x(r), b = x(r), c = x(r);
    Pending first = world.dp().start_all_reduce(a, "a"),
            second = world.tp().start_all_reduce(b, "b"),
            third = world.dp().start_all_reduce(c, "c");
    if (r % 2 == 0) {
      first.wait();
      second.wait();
      third.wait();
    } else {
      third.wait();
      second.wait();
      first.wait();
    }
    require_near(a, Values(9, 2 * (r % 2) + 2), 0);
    require_near(b, Values(9, r < 2 ? 1 : 5), 0);
    require_near(c, Values(9, 2 * (r % 2) + 2), 0);
  });
}

TEST_CASE("what does not fit is refused on the rank that asks") {
  using Catch::Matchers::Contains;
  on_ranks(1, small_world(), [](World& world) {
    Communicator& dp = world.dp();
    const Tensor x(world.device(), DType::f32, {4, 6}, "x");
    REQUIRE_THROWS_WITH(dp.all_reduce(x.columns(1, 3), "x"),
                        Contains("dp all_reduce x: the tensor of 4 x 2 is a view with gaps"));
    REQUIRE_THROWS_WITH(dp.all_gather(x, x.rows(0, 2), "x"),
                        Contains("rank 0 gives 24 of 24 elements, not 12"));
    REQUIRE_THROWS_WITH(dp.send(x, 0, "x"), Contains("rank 0 of 1 cannot send to 0"));
    REQUIRE_THROWS_WITH(dp.sums({1, 2, 3, 4, 5}), Contains("5 numbers at once, at most 4"));
  });
}
