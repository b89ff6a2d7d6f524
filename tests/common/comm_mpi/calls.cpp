#include "tests/common/comm_mpi/calls.h"

#include <algorithm>

#include "base/check.h"

namespace shardlings {

namespace {

using Values = std::vector<double>;

// Sizes that no number of ranks divides, and one beyond what MPI sends without asking.
constexpr std::int64_t kCounts[] = {1, 2, 3, 5, 12, 1000, 100'003};

// Whole numbers, whose sums are exact in f32 too.
double value(int rank, std::int64_t i) {
  return static_cast<double>((rank + 1) * 100 + i % 97);
}

Values values(int rank, std::int64_t N) {
  Values x;
  for (std::int64_t i = 0; i < N; ++i) x.push_back(value(rank, i));
  return x;
}

Values sum_of_all(int n, std::int64_t N) {
  Values sum(static_cast<std::size_t>(N));
  for (int rank = 0; rank < n; ++rank)
    for (std::int64_t i = 0; i < N; ++i) sum[static_cast<std::size_t>(i)] += value(rank, i);
  return sum;
}

Values part(const Values& x, const Span& span) {
  return {x.begin() + span.begin, x.begin() + span.begin + span.count};
}

void append(Values& x, const Values& more) {
  x.insert(x.end(), more.begin(), more.end());
}

void expect(std::string_view call, const Values& got, const Values& expected) {
  if (got.size() != expected.size())
    fail(ExitCode::check_failed, "{}: {} values, {} expected", call, got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    if (got[i] != expected[i])
      fail(ExitCode::check_failed, "{} of {}: element {} should be {}, is {}", call, got.size(), i,
           expected[i], got[i]);
}

void expect(std::string_view call, const Tensor& got, const Values& expected) {
  expect(call, got.to_doubles(), expected);
}

// What `from` has for `to`, none in some pairs.
std::int64_t parcel(int from, int to) {
  return (3 * from + 5 * to) % 4;
}

void check_reductions(Rank& rank, std::int64_t N, DType dtype) {
  const int n = rank.n, r = rank.all.rank();
  const Span mine = shard(N, n, r);
  const Values sum = sum_of_all(n, N);

  const Tensor summed = rank.tensor(values(r, N), dtype);
  rank.all.all_reduce(summed, "x");
  expect("all_reduce", summed, sum);
  const Tensor largest = rank.tensor(values(r, N), dtype);
  rank.all.all_reduce(largest, "x", Reduction::max);
  expect("all_reduce max", largest, values(n - 1, N));

  if (N < n) return;  // a rank without a shard has no tensor for it
  const Tensor shard_of_sum = rank.zeros(mine.count, dtype);
  rank.all.reduce_scatter(shard_of_sum, rank.tensor(values(r, N), dtype), "x");
  expect("reduce_scatter", shard_of_sum, part(sum, mine));
  const Tensor gathered = rank.zeros(N, dtype);
  rank.all.all_gather(gathered, rank.tensor(part(values(7, N), mine), dtype), "x");
  expect("all_gather", gathered, values(7, N));
}

void check_to_all(Rank& rank, std::int64_t N) {
  const int n = rank.n, r = rank.all.rank();
  const Tensor equal = rank.zeros(n * N);
  rank.all.all_to_all(equal, rank.tensor(values(r, n * N)), "x");
  Values expected;
  for (int from = 0; from < n; ++from) append(expected, part(values(from, n * N), {r * N, N}));
  expect("all_to_all", equal, expected);

  std::vector<std::int64_t> out_counts, in_counts;
  Values in, out;
  for (int other = 0; other < n; ++other) {
    in_counts.push_back(N * parcel(r, other));
    out_counts.push_back(N * parcel(other, r));
    append(in, Values(static_cast<std::size_t>(in_counts.back()), 10 * r + other));
    append(out, Values(static_cast<std::size_t>(out_counts.back()), 10 * other + r));
  }
  const Tensor unequal = rank.zeros(std::ssize(out));
  rank.all.all_to_all_v(unequal, out_counts, rank.tensor(in), in_counts, "x");
  expect("all_to_all_v", unequal, out);
}

void check_roots(Rank& rank, std::int64_t N) {
  const int n = rank.n, r = rank.all.rank();
  for (int root = 0; root < n; ++root) {
    const Tensor x = rank.tensor(values(r, N));
    rank.all.broadcast(x, root, "x");
    expect("broadcast", x, values(root, N));

    const Tensor gathered = r == root ? rank.zeros(n * N) : Tensor();
    rank.all.gather(gathered, rank.tensor(values(r, N)), root, "x");
    if (r != root) continue;
    Values expected;
    for (int from = 0; from < n; ++from) append(expected, values(from, N));
    expect("gather", gathered, expected);
  }
}

}  // namespace

void check_collectives(Rank& rank) {
  for (const std::int64_t N : kCounts) {
    for (const DType dtype : {DType::f32, DType::f64}) check_reductions(rank, N, dtype);
    check_to_all(rank, N);
    check_roots(rank, N);
  }
}

void check_messages(Rank& rank) {
  const int n = rank.n, r = rank.all.rank();
  if (n == 1) return;
  const int right = (r + 1) % n, left = (r + n - 1) % n;
  for (const std::int64_t N : kCounts) {
    // Around the ring, everybody at once, then one after the other.
    const Tensor came = rank.zeros(N), came_again = rank.zeros(N), mine = rank.tensor(values(r, N));
    rank.all.send_receive(came, left, mine, right, "x");
    expect("send_receive", came, values(left, N));
    if (r > 0) rank.all.receive(came_again, left, "x");
    rank.all.send(mine, right, "x");
    if (r == 0) rank.all.receive(came_again, left, "x");
    expect("receive", came_again, values(left, N));

    // Two messages to the same rank arrive in their order, whatever is waited for first.
    const Tensor second = rank.tensor(values(r + 40, N)), first_in = rank.zeros(N),
                 second_in = rank.zeros(N);
    Pending out_1 = rank.all.start_send(mine, right, "x");
    Pending out_2 = rank.all.start_send(second, right, "x");
    Pending in_1 = rank.all.start_receive(first_in, left, "x");
    Pending in_2 = rank.all.start_receive(second_in, left, "x");
    for (Pending* pending : {&in_2, &out_2, &out_1, &in_1}) pending->wait();
    expect("the first of two messages", first_in, values(left, N));
    expect("the second of two messages", second_in, values(left + 40, N));
  }
}

void check_scalars(Rank& rank) {
  const int n = rank.n, r = rank.all.rank();
  const double sum = n * (n + 1) / 2.0;
  expect("sums", rank.all.sums({r + 1.0, 1, -2.0 * (r + 1)}), {sum, 1.0 * n, -2 * sum});
  expect("max", {rank.all.max(-r)}, {0});
  expect("agree", rank.all.agree({1.0 * r, -1.0 * r}), {n - 1.0, 0});
  rank.all.barrier();
  const auto text_of = [](int of) { return std::string(static_cast<std::size_t>(of * 5000), 'a'); };
  const std::vector<std::string> texts = rank.all.gather_texts(text_of(r));
  CHECK(std::ssize(texts) == (r == 0 ? n : 0), "gather_texts: {} texts", texts.size());
  for (int from = 0; from < std::ssize(texts); ++from)
    CHECK(texts[static_cast<std::size_t>(from)] == text_of(from), "gather_texts: of rank {}", from);
}

// Ranks of equal parity, the last one first; then, within those, each by itself.
void check_groups(Rank& rank) {
  const int n = rank.n, r = rank.all.rank();
  Communicator parity = rank.all.split(r % 2, -r, "parity");
  const int members = (n - r % 2 + 1) / 2, place = members - 1 - r / 2;
  CHECK(parity.size() == members && parity.rank() == place, "split: {} of {}, expected {} of {}",
        parity.rank(), parity.size(), place, members);
  const Tensor x = rank.tensor(values(r, 1000));
  parity.all_reduce(x, "x");
  Values expected(1000);
  for (int other = r % 2; other < n; other += 2)
    for (std::int64_t i = 0; i < 1000; ++i)
      expected[static_cast<std::size_t>(i)] += value(other, i);
  expect("all_reduce of a group", x, expected);

  Communicator single = parity.split(parity.rank(), 0, "single");
  single.all_reduce(x, "x");
  single.barrier();
  expect("all_reduce of one", x, expected);
}

// Every other rank waits in the other order, also across groups: nobody waits in a circle.
void check_orders_of_waiting(Rank& rank) {
  Communicator twin = rank.all.split(0, rank.all.rank(), "twin");
  for (const std::int64_t N : kCounts) {
    const Tensor x = rank.tensor(values(rank.all.rank(), N)), y = rank.tensor(x.to_doubles()),
                 z = rank.tensor(x.to_doubles());
    Pending of_x = rank.all.start_all_reduce(x, "x");
    Pending of_y = rank.all.start_all_reduce(y, "y");
    Pending of_z = twin.start_all_reduce(z, "z");
    std::vector<Pending*> order{&of_x, &of_y, &of_z};
    std::ranges::rotate(order, order.begin() + rank.all.rank() % 3);
    for (Pending* pending : order) pending->wait();
    for (const Tensor& tensor : {x, y, z})
      expect("all_reduce, started", tensor, sum_of_all(rank.n, N));
  }
}

}  // namespace shardlings
