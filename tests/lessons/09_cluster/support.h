// What the tests of lesson 09 share: ranks on nodes of h100x8's links, whose numbers are known.
#pragma once

#include "base/random.h"
#include "lessons/09_cluster/exercise.h"
#include "lessons/09_cluster/rank_order.h"
#include "tests/support/ranks.h"

namespace shardlings::lesson09 {

using Numbers = std::vector<double>;

// Whole numbers, so that every order of adding comes to the same sum.
inline Numbers numbers_of(int rank, std::int64_t N) {
  const RandomStream random(9, fmt::format("rank {}", rank));
  Numbers values;
  for (std::int64_t i = 0; i < N; ++i)
    values.push_back(1 + static_cast<double>(random.below(1000, static_cast<std::uint64_t>(i))));
  return values;
}

inline Numbers plus(Numbers x, const Numbers& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
  return x;
}

// Added up over ranks first, first + stride, ... before end.
inline Numbers sum_of(int first, int end, int stride, std::int64_t N) {
  Numbers sum(static_cast<std::size_t>(N), 0);
  for (int rank = first; rank < end; rank += stride)
    sum = plus(std::move(sum), numbers_of(rank, N));
  return sum;
}

// How an all-reduce ended on a rank: what the rank holds, what it sent over which link, and how
// long it took on the modelled clock.
struct Ended {
  Numbers x;
  double inside = 0, between = 0, messages = 0, seconds = 0;
};

struct Layout {
  int n, k;  // ranks, and ranks on a node
  std::int64_t N;
  DType dtype = DType::f64;
  std::string backend = "cpu";
};

using Work = std::function<void(const Tensor& x, World& world)>;

inline Options options_of(const Layout& layout) {
  Options options = small_world(layout.backend, "h100x8");
  options.chips_per_node = layout.k;
  return options;
}

// What every rank ends with, when each begins with its own numbers.
inline std::vector<Ended> on_nodes(const Layout& layout, const Work& work) {
  std::vector<Ended> ends(static_cast<std::size_t>(layout.n));
  on_ranks(layout.n, options_of(layout), [&](World& world) {
    Ended& end = ends[static_cast<std::size_t>(world.rank())];
    const Tensor x(world.device(), layout.dtype, {layout.N}, "x");
    x.from_doubles(numbers_of(world.rank(), layout.N));
    work(x, world);
    end.x = x.to_doubles();
    end.seconds = world.all().agree({world.clock().now()}).front();
    for (const auto& [key, count] : world.traffic().total()) {
      end.messages += static_cast<double>(count.messages);
      for (const auto& [link, bytes] : count.sent_bytes_by_link)
        (link == "nvlink" ? end.inside : end.between) += static_cast<double>(bytes);
    }
  });
  return ends;
}

inline void ring(const Tensor& x, World& world, int k, const std::string& order) {
  Communicator group = ring_of(world.dp(), ring_order(world.dp().size(), k, order));
  group.all_reduce(x, "numbers");
}

inline void two_level(const Tensor& x, World& world, int k) {
  Levels levels = levels_of(world.dp(), k);
  two_level_all_reduce(x, levels);
}

// Added up over all ranks.
inline double total(const std::vector<Ended>& ends, double Ended::*what) {
  double sum = 0;
  for (const Ended& end : ends) sum += end.*what;
  return sum;
}

}  // namespace shardlings::lesson09
