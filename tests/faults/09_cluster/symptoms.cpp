// An exam of lesson 09's own code, for faults that right sums do not show.
#include "lessons/09_cluster/fit.h"
#include "lessons/09_cluster/host_hops.h"
#include "tests/lessons/09_cluster/support.h"
#include "tests/support/judge.h"

using namespace shardlings;
using namespace shardlings::lesson09;

namespace {

NamedValues number(double value) {
  return {{"", {value}}};
}

double bytes_between(const Layout& s, const std::string& order) {
  return total(on_nodes(s, [&](const Tensor& x, World& world) { ring(x, world, s.k, order); }),
               &Ended::between);
}

void rings_have_their_order(Judge& judge) {
  const Layout s{.n = 6, .k = 3, .N = 36};
  const double of_a_hop = 2.0 * (s.n - 1) / s.n * 8 * static_cast<double>(s.N);
  for (const auto& [order, hops] : {std::pair{"near", 2}, {"far", 6}}) {
    judge.now(fmt::format("6 ranks, 3 on a node, 36 numbers each, f64, the {} ring", order));
    judge.equal(
        "bytes between nodes", bytes_between(s, order), hops * of_a_hop, 0,
        {.equal_to = {{"those of a ring that leaves its node with every hop", number(6 * of_a_hop)},
                      {"those of a ring in the order of ranks", number(2 * of_a_hop)}}});
  }
}

std::vector<TimedMessage> timed(const Link& link, double noise) {
  std::vector<TimedMessage> points;
  for (double bytes = 1024; bytes <= 4 << 20; bytes *= 4) {
    points.push_back({bytes, link.seconds(bytes) * (1 + noise)});
    noise = -noise;
  }
  return points;
}

void a_fit_gives_the_link_back(Judge& judge) {
  const Link link{.name = "x", .latency = 10e-6, .bandwidth = 5e9};
  judge.now("times that lie on a line: 10 us and 5 GB/s");
  const Link got = fit_link("x", timed(link, 0));
  judge.equal("alpha in seconds", got.latency, link.latency, 1e-6,
              {.equal_to = {{"the seconds of a byte", number(1 / link.bandwidth)}}});
  judge.equal("beta in bytes per second", got.bandwidth, link.bandwidth, 1e-6,
              {.equal_to = {{"the seconds of a byte, not the bytes of a second",
                             number(1 / link.bandwidth)}}});
}

void short_messages_decide_alpha(Judge& judge) {
  const Link link{.name = "x", .latency = 10e-6, .bandwidth = 5e9};
  judge.now("the same, each time 2 % off, up and down in turn");
  const double alpha = fit_link("x", timed(link, 0.02)).latency;
  judge.holds(std::abs(alpha / link.latency - 1) < 0.03,
              {.quantity = "alpha in seconds",
               .expected = "1e-05, to within 3 %",
               .measured = fmt::format("{:.3g}", alpha),
               .suggests = "2 % of the longest message is more than all of alpha: its time alone "
                           "decided"});
}

void hosts_are_passed_at_both_ends(Judge& judge) {
  judge.now("a message of a million bytes between chips of two nodes");
  judge.equal("bytes that host memory takes in and gives out, without RDMA",
              host_memory_bytes(false, 1e6), 4e6, 0,
              {.equal_to = {{"what one of the two hosts moves", number(2e6)}}});
  judge.equal("and with RDMA", host_memory_bytes(true, 1e6), 0, 0);
}

}  // namespace

const Exam shardlings::kExam{
    .name = "lesson 09",
    .hint = "./shardlings show 09",
    .again = "./shardlings test -R exercise_09.healthy",
    .checks = {{"lesson 09", "a near ring leaves each node once, a far one with every hop",
                rings_have_their_order},
               {"lesson 09", "a fit gives the link back", a_fit_gives_the_link_back},
               {"lesson 09", "short messages decide alpha", short_messages_decide_alpha},
               {"lesson 09", "bytes are put down in both hosts, or in none",
                hosts_are_passed_at_both_ends}}};
