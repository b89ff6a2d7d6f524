// Lesson 09 · Cluster: the same sums over fast links inside nodes and slow ones between them.
// New        alpha and beta of a link; the order of a ring; an all-reduce in two levels
// Known      reduce-scatter, all-gather and all-reduce as rings (08)
// Measured   bytes inside nodes and between them; messages; the time of it on the modelled clock
// Run        ./shardlings run 09 -n 4 --order far
// Next       lesson 10 sends gradients this way

#include <algorithm>
#include <cmath>

#include "base/hash.h"
#include "base/random.h"
#include "course/run.h"
#include "lessons/09_cluster/exercise.h"    // yours: the all-reduce in two levels
#include "lessons/09_cluster/host_hops.h"   // what RDMA saves
#include "lessons/09_cluster/ping_pong.h"   // alpha and beta of the machine you sit at
#include "lessons/09_cluster/rank_order.h"  // where ranks are, and the order of a ring

namespace shardlings::lesson09 {

// n ranks   k ranks per node   N numbers of every rank, to be summed   w bytes of each
// alpha, beta of the link inside a node and of the one between nodes

// ---- the mechanism ----
// rank_order.h, fit.h, ping_pong.h, host_hops.h and exercise.h, in this order.

int ranks_per_node(Run& run) {
  return ranks_per_node(run.world().dp().size(), run.world().clock().cluster().chips_per_node);
}

// Both links have to have names, or the ledger does not tell them apart.
void require_two_links(Run& run) {
  const Cluster& cluster = run.world().clock().cluster();
  if (cluster.inside.name == cluster.between.name)
    fail(ExitCode::usage,
         "--cluster: {} has one class of links, {}; expected another inside its nodes than between "
         "them, for instance h100x8",
         cluster.name, cluster.inside.name);
}

// Numbers [begin, end) of a rank: anybody can say what anybody has.
std::vector<double> numbers(const Run& run, int rank, std::int64_t begin, std::int64_t end) {
  const RandomStream random(static_cast<std::uint64_t>(run.options().seed),
                            fmt::format("numbers of rank {}", rank));
  std::vector<double> values;
  for (std::int64_t i = begin; i < end; ++i)
    values.push_back(random.uniform(static_cast<std::uint64_t>(i)) - 0.5);
  return values;
}

// What a rank works with: its numbers, and the groups that add them up.
struct Sums {
  explicit Sums(Run& run)
      : mine(numbers(run, run.world().rank(), 0, run.number("elements"))),
        x(run.world().device(), run.dtype(), {run.number("elements")}, "numbers",
          Category::gradients) {}

  std::vector<double> mine;
  Tensor x;
};

Communicator ring_of(Run& run, const std::string& order) {
  Communicator& dp = run.world().dp();
  return ring_of(dp, ring_order(dp.size(), ranks_per_node(run), order));
}

// ---- one step ----

void step(Sums& sums, Communicator& ring, Levels* levels) {
  sums.x.from_doubles(sums.mine);  // again: the last step has left its sums here
  if (levels != nullptr)
    two_level_all_reduce(sums.x, *levels);
  else
    ring.all_reduce(sums.x, "numbers");
}

// What the ranks sent in a step, by the class of the link that it crossed. (NCCL does not tell: its
// ring is taken to be on the slowest link.)
void count_traffic(Run& run, const TrafficLedger::Rows& rows) {
  const Cluster& cluster = run.world().clock().cluster();
  double inside = 0, between = 0, messages = 0;
  for (const auto& [key, count] : rows) {
    messages += static_cast<double>(count.messages);
    for (const auto& [link, bytes] : count.sent_bytes_by_link)
      (link.starts_with(cluster.inside.name) ? inside : between) += static_cast<double>(bytes);
  }
  const std::vector<double> all = run.world().all().sums({inside, between});
  run.count("bytes inside nodes", "bytes", all[0]);
  run.count("bytes between nodes", "bytes", all[1]);
  run.count("messages of a rank", "messages", messages);
}

// One message of the ring between nodes, by both ways.
void count_host_hops(Run& run) {
  const Link& between = run.world().clock().cluster().between;
  const double bytes =
      static_cast<double>(run.number("elements") * bytes_per_element(run.dtype())) /
      run.world().dp().size();
  constexpr double kMicroseconds = 1e6;
  run.count("a message between nodes, RDMA", "us",
            kMicroseconds * message_seconds(between, true, bytes));
  run.count("a message between nodes, through hosts", "us",
            kMicroseconds * message_seconds(between, false, bytes));
  run.count("bytes of it in host memory, RDMA", "bytes", host_memory_bytes(true, bytes));
  run.count("bytes of it in host memory, through hosts", "bytes", host_memory_bytes(false, bytes));
}

// ---- what you can believe ----

// The sums of this rank's part, from the numbers of all ranks, on one device.
double largest_difference(Run& run, const std::vector<double>& x) {
  Communicator& dp = run.world().dp();
  const Span part = shard(run.number("elements"), dp.size(), dp.rank());
  std::vector<double> expected(static_cast<std::size_t>(part.count), 0);
  for (int rank = 0; rank < dp.size(); ++rank) {
    const std::vector<double> its = numbers(run, rank, part.begin, part.begin + part.count);
    for (std::size_t i = 0; i < its.size(); ++i) expected[i] += its[i];
  }
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(x[static_cast<std::size_t>(part.begin) + i] - expected[i]);
    if (std::isnan(difference)) return difference;
    largest = std::max(largest, difference);
  }
  return largest;
}

bool all_have(Run& run, const std::vector<double>& x) {
  const std::string_view bytes(reinterpret_cast<const char*>(x.data()), x.size() * sizeof(double));
  return run.world().all().all_equal(hash_of(bytes));
}

void verify(Run& run, Sums& sums) {
  const double rounding = run.dtype() == DType::f64 ? 1e-12 : 1e-5;
  const std::vector<double> x = sums.x.to_doubles();
  check_at_most(run.report(), "sums equal those of one device", largest_difference(run, x),
                rounding);
  check_at_most(run.report(), "ranks whose bits differ", all_have(run, x) ? 0 : 1, 0);
  for (const std::string order : {"near", "far"}) {
    Communicator ring = ring_of(run, order);
    step(sums, ring, nullptr);
    check_at_most(run.report(), fmt::format("the {} ring gives the same sums", order),
                  largest_difference(run, sums.x.to_doubles()), rounding);
  }
}

// ---- the lesson ----

void lesson_main(Run& run) {
  require_two_links(run);
  const int k = ranks_per_node(run);
  Sums sums(run);
  Communicator ring = ring_of(run, run.word("order"));
  std::optional<Levels> levels;
  if (run.word("algorithm") == "two_level") levels = levels_of(run.world().dp(), k);

  TrafficLedger::Rows sent;
  run.repeat([&] {
    const TrafficLedger::Rows before = run.world().traffic().total();
    step(sums, ring, levels ? &*levels : nullptr);
    sent = run.world().traffic().since(before);
  });
  count_traffic(run, sent);
  run.count("all-reduce on the clock", "us", 1e3 * run.report().clock.value().step_ms);
  count_host_hops(run);
  verify(run, sums);
  if (const std::string file = run.word("fit"); !file.empty()) fit_to_file(run.world(), file);
}

}  // namespace shardlings::lesson09

int main(int argc, char** argv) {
  return shardlings::run_lesson(
      argc, argv,
      {.number = 9,
       .slug = "cluster",
       .title = "Fast links inside nodes, slow ones between them",
       .defaults = {.steps = 3, .ranks = 4, .cluster = "h100x8", .chips_per_node = 2},
       .knobs = {{.name = "elements",
                  .initial = std::int64_t{3'000'000},
                  .help = "N, numbers that every rank has",
                  .lowest = 1,
                  .highest = 100'000'000,
                  .letter = "N",
                  .judged_with = {std::int64_t{12}, std::int64_t{12'000}}},
                 {.name = "order",
                  .initial = "near",
                  .help = "of the ring: near (neighbours share nodes) or far (no two do)",
                  .allowed = {"near", "far"},
                  .judged_with = {"near", "far"}},
                 {.name = "algorithm",
                  .initial = "ring",
                  .help = "ring, or two_level: yours",
                  .allowed = {"ring", "two_level"},
                  .judged_with = {"ring", "two_level"}},
                 {.name = "fit",
                  .initial = "",
                  .help = "measure the links of this run and write them for --cluster"}},
       .axis = shardlings::Axis::dp},
      shardlings::lesson09::lesson_main);
}
