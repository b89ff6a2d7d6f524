// Judges exercise 09: levels_of and two_level_all_reduce, by who is in which group, by the sums
// that every rank holds at the end, and by the bytes that crossed each class of links. Ranks are
// threads.
#include <fmt/ranges.h>

#include <algorithm>

#include "tests/lessons/09_cluster/support.h"
#include "tests/support/judge.h"

using namespace shardlings;
using namespace shardlings::lesson09;

namespace {

std::string in_words(const Layout& s) {
  return fmt::format("{} ranks, {} on a node, {} numbers each, {}, device {}", s.n, s.k, s.N,
                     name_of(s.dtype), s.backend);
}

NamedValues list(const Numbers& values) {
  return {{"", values}};
}

// ---- step 9.1 ----

// The ranks of a group, in its order.
Numbers members(Communicator& group, World& world) {
  const Tensor ranks(world.device(), DType::f64, {group.size()}, "ranks");
  fill(ranks, world.rank());
  group.all_gather(ranks, ranks.columns(group.rank(), group.rank() + 1), "ranks");
  return ranks.to_doubles();
}

struct Groups {
  Numbers node, across;  // in the order of the group
  std::string node_name, across_name;
};

std::vector<Groups> groups_of(const Layout& s) {
  std::vector<Groups> groups(static_cast<std::size_t>(s.n));
  on_ranks(s.n, options_of(s), [&](World& world) {
    Levels levels = levels_of(world.dp(), s.k);
    groups[static_cast<std::size_t>(world.rank())] = {members(levels.node, world),
                                                      members(levels.across, world),
                                                      levels.node.axis(), levels.across.axis()};
  });
  return groups;
}

Numbers sorted(Numbers ranks) {
  std::ranges::sort(ranks);
  return ranks;
}

Numbers every(int first, int end, int stride) {
  Numbers ranks;
  for (int rank = first; rank < end; rank += stride) ranks.push_back(rank);
  return ranks;
}

void judge_group(Judge& judge, const Layout& s, int rank, const char* which, const Numbers& got) {
  const int node = rank / s.k, chip = rank % s.k, nodes = s.n / s.k;
  const Numbers on_node = every(node * s.k, (node + 1) * s.k, 1), across = every(chip, s.n, s.k);
  const bool is_node = which == std::string("node");
  std::string suggests;
  if (sorted(got) == every(0, s.n, 1))
    suggests = "all ranks gave the same colour";
  else if (sorted(got) == (is_node ? across : on_node))
    suggests = "that is the other group of this rank";
  else if (sorted(got) == (is_node ? every(rank % nodes, s.n, nodes)
                                   : every(rank / nodes * nodes, (rank / nodes + 1) * nodes, 1)))
    suggests = "ranks were dealt out to the nodes like cards; they fill one node after the other";
  else if (got.size() == 1)
    suggests = "no other rank gave the same colour";
  judge.holds(sorted(got) == (is_node ? on_node : across),
              {.quantity = fmt::format("the ranks in the group \"{}\" of rank {}", which, rank),
               .expected = fmt::format("{}", fmt::join(is_node ? on_node : across, ", ")),
               .measured = fmt::format("{}", fmt::join(got, ", ")),
               .suggests = suggests});
}

std::ptrdiff_t place(const Numbers& group, double rank) {
  return std::ranges::find(group, rank) - group.begin();
}

void groups_are_nodes_and_across(Judge& judge) {
  for (const Layout& s :
       {Layout{6, 2, 1}, {4, 2, 1}, {6, 3, 1}, {4, 1, 1}, {4, 4, 1}, {3, 3, 1}, {1, 1, 1}}) {
    judge.now(fmt::format("{} ranks, {} on a node", s.n, s.k));
    const std::vector<Groups> groups = groups_of(s);
    for (int rank = 0; rank < s.n; ++rank) {
      const auto& [node, across, node_name, across_name] = groups[static_cast<std::size_t>(rank)];
      judge_group(judge, s, rank, "node", node);
      judge_group(judge, s, rank, "across", across);
      judge.holds(node_name == "node" && across_name == "across",
                  {.quantity = "the names of the groups, for the traffic ledger",
                   .expected = "node, across",
                   .measured = fmt::format("{}, {}", node_name, across_name)});
    }
  }
}

// Which part of a sum a rank gets depends on its place among the ranks of its node.
void parts_match_across_nodes(Judge& judge) {
  for (const Layout& s : {Layout{4, 2, 1}, {6, 3, 1}}) {
    judge.now(fmt::format("{} ranks, {} on a node", s.n, s.k));
    const std::vector<Groups> groups = groups_of(s);
    for (int rank = s.k; rank < s.n; ++rank) {
      const int first = rank % s.k;
      const auto place_of = [&](int r) {
        return place(groups[static_cast<std::size_t>(r)].node, r);
      };
      judge.holds(
          place_of(rank) == place_of(first),
          {.quantity = fmt::format("the places of ranks {} and {} on their nodes", first, rank),
           .expected = "the same: they are in one group across nodes, and add up the same part",
           .measured = fmt::format("{} and {}", place_of(first), place_of(rank)),
           .suggests = "the keys of one node are in another order than those of the next"});
    }
  }
}

// ---- step 9.2: sums ----

std::vector<Ended> reduced(const Layout& s) {
  return on_nodes(s, [&](const Tensor& x, World& world) { two_level(x, world, s.k); });
}

// `inside` the span, `outside` elsewhere.
Numbers patched(Numbers outside, const Numbers& inside, const Span& span) {
  std::copy_n(inside.begin() + span.begin, span.count, outside.begin() + span.begin);
  return outside;
}

// What rank `rank` may hold by mistake.
Clues clues_of_sums(const Layout& s, int rank) {
  const int node = rank / s.k, chip = rank % s.k;
  const Numbers own = numbers_of(rank, s.N), sum = sum_of(0, s.n, 1, s.N),
                of_node = sum_of(node * s.k, (node + 1) * s.k, 1, s.N);
  const std::int64_t floor = s.N / s.k;
  Numbers twice = sum;
  for (double& value : twice) value *= s.k;
  Clues clues{
      .letters = {{"n", s.n}},
      .equal_to = {{"the rank's own numbers: nothing was added to them", list(own)},
                   {"the sum over the ranks of its own node alone", list(of_node)},
                   {"the sum over one rank of every node", list(sum_of(chip, s.n, s.k, s.N))},
                   {fmt::format("the sum in the first k * floor(N / k) = {} numbers; the last ones "
                                "are in no part",
                                s.k * floor),
                    list(patched(own, sum, {0, s.k * floor}))},
                   {"the sum over all ranks in the first part, and that of its own node elsewhere",
                    list(patched(of_node, sum, shard(s.N, s.k, 0)))}}};
  if (s.k > 1)
    clues.equal_to.push_back(
        {"k times the sum: a node's sum was added up on its node again", list(twice)});
  if (s.n > s.k) {
    Numbers mean = sum;
    for (double& value : mean) value /= s.n / s.k;
    clues.equal_to.push_back({"the sum divided by the number of nodes", list(mean)});
  }
  return clues;
}

void judge_sums(Judge& judge, const Layout& s) {
  judge.now(in_words(s));
  const std::vector<Ended> ends = reduced(s);
  const Numbers sum = sum_of(0, s.n, 1, s.N);
  const auto piece = [](const Numbers& x, const Span& span) {
    return Numbers(x.begin() + span.begin, x.begin() + span.begin + span.count);
  };
  for (int rank = 0; rank < s.n; ++rank) {
    const Numbers& x = ends[static_cast<std::size_t>(rank)].x;
    const Span part = shard(s.N, s.k, rank % s.k);
    const Clues clues = clues_of_sums(s, rank);
    const bool known = std::ranges::any_of(
        clues.equal_to, [&](const Clue& clue) { return clue.values.at("") == x; });
    judge.holds(
        x == sum || known || part.count == 0 || piece(x, part) != piece(sum, part),
        {.quantity = fmt::format("x of rank {}", rank),
         .expected = "the sum over all ranks, in every part",
         .measured = fmt::format("numbers {} to {}, its own part, are the sum; others are not",
                                 part.begin, part.begin + part.count - 1),
         .suggests = "the parts of the others have not come back"});
    judge.equal(fmt::format("x of rank {}", rank), list(x), list(sum), 1e-12, 0, clues);
  }
}

void every_rank_has_the_sums(Judge& judge) {
  judge_sums(judge, {4, 2, 12});
  judge_sums(judge, {6, 3, 12});
  judge_sums(judge, {6, 2, 12});
  judge_sums(judge, {3, 1, 12});
  judge_sums(judge, {3, 3, 12});
  judge_sums(judge, {2, 1, 12});
  judge_sums(judge, {1, 1, 12});
}

void numbers_that_k_does_not_divide(Judge& judge) {
  judge_sums(judge, {4, 2, 7});
  judge_sums(judge, {6, 3, 11});
  judge_sums(judge, {6, 3, 2});
  judge_sums(judge, {4, 2, 1});
}

void other_devices_and_types(Judge& judge) {
  judge_sums(judge, {4, 2, 10, DType::f32, "guarded"});
  judge_sums(judge, {3, 3, 7, DType::f64, "guarded"});
}

// ---- step 9.2: bytes ----

struct Bytes {
  double inside, between, most_between;  // all ranks together; the most that one rank sends
};

// Of the course's answer, and of mistakes that come to the right sums.
std::vector<std::pair<Bytes, std::string>> known_bytes(const Layout& s) {
  const double whole = static_cast<double>(s.N * bytes_per_element(s.dtype)), k = s.k,
               nodes = s.n / k, up_and_down = 2 * nodes * (k - 1) * whole,
               a_rank = 2 * (nodes - 1) / nodes * whole;
  return {
      {{up_and_down, 2 * (nodes - 1) * whole, a_rank / k}, ""},
      {{up_and_down, 2 * (nodes - 1) * k * whole, a_rank},
       "the whole of x went from node to node on each of its k ranks: of a node's sum, 1/k each is "
       "enough"},
      {{2 * (k - 1) * whole, 2 * (nodes - 1) * k * whole, a_rank},
       "the levels are the wrong way round: most of it went over the slow links"},
      {{1.5 * up_and_down, 2 * (nodes - 1) * whole, a_rank},
       "one rank of every node sent all of it to other nodes; the ports of the others were idle"},
  };
}

void as_little_as_possible_leaves_a_node(Judge& judge) {
  for (const Layout& s : {Layout{6, 2, 24}, {6, 3, 36}, {4, 2, 24}, {8, 4, 64, DType::f32}}) {
    judge.now(in_words(s));
    const std::vector<Ended> ends = reduced(s);
    const Bytes sent{total(ends, &Ended::inside), total(ends, &Ended::between),
                     std::ranges::max(ends, {}, &Ended::between).between};
    const auto same = [](const Bytes& a, const Bytes& b) {
      return a.inside == b.inside && a.between == b.between && a.most_between == b.most_between;
    };
    const auto text = [](const Bytes& bytes) {
      return fmt::format("{} inside, {} between, {} at most of one rank", bytes.inside,
                         bytes.between, bytes.most_between);
    };
    const auto known = known_bytes(s);
    const auto found =
        std::ranges::find_if(known, [&](const auto& entry) { return same(entry.first, sent); });
    const Bytes& right = known.front().first;
    judge.holds(
        same(right, sent),
        {.quantity = "bytes that cross links inside nodes and between them",
         .expected = text(right),
         .measured = text(sent),
         .ratio = fmt::format("{:.4g} inside, {:.4g} between", sent.inside / right.inside,
                              sent.between / right.between),
         .suggests = found == known.end() ? "something was sent more than once, or not at all"
                                          : found->second});
  }
}

}  // namespace

const Exam shardlings::kExam{
    .name = "exercise 09",
    .hint = "./shardlings hint 09",
    .again = "./shardlings check 09",
    .checks = {{"9.1", "a rank is in the group of its node, and in one across the nodes",
                groups_are_nodes_and_across},
               {"9.1", "ranks of a group across nodes have the same place on their nodes",
                parts_match_across_nodes},
               {"9.2", "every rank has the sums over all ranks", every_rank_has_the_sums},
               {"9.2", "k need not divide the numbers", numbers_that_k_does_not_divide},
               {"9.2", "so it is on other devices and in f32", other_devices_and_types},
               {"9.2", "as little as possible leaves a node, and through all of its ports",
                as_little_as_possible_leaves_a_node}}};
