#include "comm/communicator.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "comm/fault.h"
#include "comm/operation.h"
#include "tensor/ops.h"

namespace shardlings {

namespace {

Span whole(const Tensor& x) {
  return {0, x.elements()};
}

// Steps of every rank of a group of n.
template <class StepsOf>
std::vector<Steps> for_all(int n, const StepsOf& steps_of) {
  std::vector<Steps> all;
  for (int rank = 0; rank < n; ++rank) all.push_back(steps_of(rank));
  return all;
}

// Where each of the blocks of these sizes begins and how long it is.
std::vector<Span> spans_of(const std::vector<std::int64_t>& counts) {
  std::vector<Span> spans;
  std::int64_t begin = 0;
  for (const std::int64_t count : counts) {
    spans.push_back({begin, count});
    begin += count;
  }
  return spans;
}

// Texts on their way to rank 0, on the control channel.
class TextTransfer : public Exchange {
 public:
  explicit TextTransfer(Transport& transport) : transport_(transport) {}
  ~TextTransfer() override {
    for (const Transport::Request request : requests_) transport_.cancel(request);
  }

  void send(const std::string& text) {
    requests_.push_back(
        transport_.start_send(text.data(), std::ssize(text), 0, Channel::control, kTag));
  }
  void receive(std::string& text, double length, int from) {
    text.resize(static_cast<std::size_t>(length));
    requests_.push_back(
        transport_.start_receive(text.data(), std::ssize(text), from, Channel::control, kTag));
  }
  bool advance() override {
    std::erase_if(requests_, [&](Transport::Request r) { return transport_.done(r); });
    return requests_.empty();
  }

 private:
  static constexpr int kTag = (1 << 15) - 1;  // operations use less
  Transport& transport_;
  std::vector<Transport::Request> requests_;
};

bool moves_in_place(Collective collective) {
  return collective == Collective::all_reduce || collective == Collective::reduce_scatter ||
         collective == Collective::all_gather;
}

// Lets a call that works in place work on a copy. What it is about is NaN until wait(): whoever
// reads it too early gets that, and whatever is written too late is lost.
void poison(Call& call) {
  const Tensor x = call.out;
  const Tensor copy = clone(x, call.what, Category::communication);
  for (LocalCopy& before : call.before) {
    before.to = copy;
    const Span& span = before.to_span;
    const bool is_there_already =
        before.from.data() ==
        x.view({x.elements()}).columns(span.begin, span.begin + span.count).data();
    if (is_there_already) before.to_span.count = before.from_span.count = 0;
  }
  for (LocalCopy& after : call.after) after.from = copy;
  if (call.collective != Collective::reduce_scatter)
    call.after.push_back({x, whole(x), copy, whole(copy)});
  call.out = call.in = copy;
  fill(x, std::numeric_limits<double>::quiet_NaN());
}

}  // namespace

void Pending::wait() {
  if (operation_ == nullptr) return;
  operation_->progress().wait(*operation_);
  operation_->finish();
  operation_.reset();
}

Communicator::Communicator(std::unique_ptr<Transport> transport, std::string axis,
                           std::vector<std::int64_t> global_ranks,
                           const RankInstruments& instruments)
    : group_(
          new Group{std::move(transport), std::move(axis), std::move(global_ranks), instruments}) {
  CHECK(static_cast<int>(group_->global_ranks.size()) == size(), "{}: {} ranks, but {} places",
        group_->axis, size(), group_->global_ranks.size());
}

Communicator::~Communicator() = default;
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;

const std::string& Communicator::axis() const {
  return group_->axis;
}
int Communicator::rank() const {
  return group_->rank();
}
int Communicator::size() const {
  return group_->size();
}

Pending Communicator::start(Call call) {
  for (const Tensor* tensor : {&call.out, &call.in})
    CHECK(tensor->is_contiguous(), "{} {} {}: the tensor of {} is a view with gaps; clone it first",
          group_->axis, name_of(call.collective), call.what, tensor->shape().text());
  Progress& progress = group_->instruments.progress;
  const std::int64_t global_rank = group_->global_ranks[static_cast<std::size_t>(rank())];
  if (!pass_fault(global_rank, progress.next_number(), call.in)) return {};
  if (size() > 1 && moves_in_place(call.collective) && poisons()) poison(call);
  auto operation = std::make_shared<Pending::Operation>(group_, std::move(call));
  progress.start(operation);
  return Pending(std::move(operation));
}

Pending Communicator::start_all_reduce(const Tensor& x, std::string_view what,
                                       Reduction reduction) {
  const std::int64_t N = x.elements();
  return start({.collective = Collective::all_reduce,
                .what = std::string(what),
                .out = x,
                .in = x,
                .count = N,
                .reduction = reduction,
                .steps = for_all(size(), [&](int r) { return ring_all_reduce(N, size(), r); })});
}

Pending Communicator::start_reduce_scatter(const Tensor& mine, const Tensor& x,
                                           std::string_view what, Reduction reduction) {
  const std::int64_t N = x.elements();
  const Span place = shard(N, size(), rank());
  CHECK(mine.dtype() == x.dtype() && mine.elements() == place.count,
        "{} reduce_scatter {}: rank {} gets {} of {} elements, not {}", axis(), what, rank(),
        place.count, N, mine.elements());
  return start({.collective = Collective::reduce_scatter,
                .what = std::string(what),
                .out = x,
                .in = x,
                .count = N,
                .reduction = reduction,
                .steps = for_all(size(), [&](int r) { return ring_reduce_scatter(N, size(), r); }),
                .after = {{mine, whole(mine), x, place}}});
}

Pending Communicator::start_all_gather(const Tensor& x, const Tensor& mine, std::string_view what) {
  const std::int64_t N = x.elements();
  const Span place = shard(N, size(), rank());
  CHECK(mine.dtype() == x.dtype() && mine.elements() == place.count,
        "{} all_gather {}: rank {} gives {} of {} elements, not {}", axis(), what, rank(),
        place.count, N, mine.elements());
  return start({.collective = Collective::all_gather,
                .what = std::string(what),
                .out = x,
                .in = x,
                .count = N,
                .steps = for_all(size(), [&](int r) { return ring_all_gather(N, size(), r); }),
                .before = {{x, place, mine, whole(mine)}}});
}

Pending Communicator::start_send(const Tensor& x, int to, std::string_view what) {
  CHECK(0 <= to && to < size() && to != rank(), "{} send {}: rank {} of {} cannot send to {}",
        axis(), what, rank(), size(), to);
  return start({.collective = Collective::message,
                .what = std::string(what),
                .out = x,
                .in = x,
                .count = x.elements(),
                .steps = {{{.to = to, .send = whole(x)}}}});
}

Pending Communicator::start_receive(const Tensor& x, int from, std::string_view what) {
  CHECK(0 <= from && from < size() && from != rank(),
        "{} receive {}: rank {} of {} cannot receive from {}", axis(), what, rank(), size(), from);
  return start({.collective = Collective::message,
                .what = std::string(what),
                .out = x,
                .in = x,
                .count = x.elements(),
                .steps = {{{.from = from, .receive = whole(x)}}}});
}

void Communicator::all_reduce(const Tensor& x, std::string_view what, Reduction reduction) {
  start_all_reduce(x, what, reduction).wait();
}

void Communicator::reduce_scatter(const Tensor& mine, const Tensor& x, std::string_view what,
                                  Reduction reduction) {
  start_reduce_scatter(mine, x, what, reduction).wait();
}

void Communicator::all_gather(const Tensor& x, const Tensor& mine, std::string_view what) {
  start_all_gather(x, mine, what).wait();
}

void Communicator::all_to_all(const Tensor& out, const Tensor& in, std::string_view what) {
  CHECK(in.elements() % size() == 0 && out.elements() == in.elements(),
        "{} all_to_all {}: {} elements in, {} out, for {} equal blocks", axis(), what,
        in.elements(), out.elements(), size());
  const std::vector<std::int64_t> counts(static_cast<std::size_t>(size()), in.elements() / size());
  all_to_all_v(out, counts, in, counts, what);
}

void Communicator::all_to_all_v(const Tensor& out, const std::vector<std::int64_t>& out_counts,
                                const Tensor& in, const std::vector<std::int64_t>& in_counts,
                                std::string_view what) {
  const std::vector<Span> to = spans_of(in_counts), from = spans_of(out_counts);
  const auto total = [](const std::vector<std::int64_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  };
  CHECK(static_cast<int>(to.size()) == size() && static_cast<int>(from.size()) == size() &&
            total(in_counts) == in.elements() && total(out_counts) == out.elements() &&
            out.dtype() == in.dtype(),
        "{} all_to_all {}: blocks of {} and {} elements for {} ranks do not fill tensors of {} and "
        "{}",
        axis(), what, total(in_counts), total(out_counts), size(), in.elements(), out.elements());
  const auto block = [](const std::vector<Span>& spans, int rank) {
    return spans[static_cast<std::size_t>(rank)];
  };
  Steps steps;
  for (int i = 1; i < size(); ++i) {
    const int right = (rank() + i) % size(), left = (rank() + size() - i) % size();
    steps.push_back({right, block(to, right), left, block(from, left), false});
  }
  start({.collective = Collective::all_to_all,
         .what = std::string(what),
         .out = out,
         .in = in,
         .count = -1,
         .steps = {steps},
         .before = {{out, block(from, rank()), in, block(to, rank())}}})
      .wait();
}

void Communicator::broadcast(const Tensor& x, int root, std::string_view what) {
  const std::int64_t N = x.elements();
  start({.collective = Collective::broadcast,
         .what = std::string(what),
         .out = x,
         .in = x,
         .count = N,
         .root = root,
         .steps = for_all(size(), [&](int r) { return chain_broadcast(N, size(), r, root); })})
      .wait();
}

void Communicator::gather(const Tensor& out, const Tensor& in, int root, std::string_view what) {
  const std::int64_t N = in.elements();
  const auto steps_of = [&](int r) {
    if (r != root) return Steps{{.to = root, .send = {0, N}}};
    Steps steps;
    for (int from = 0; from < size(); ++from)
      if (from != root) steps.push_back({.from = from, .receive = {from * N, N}});
    return steps;
  };
  Call call{.collective = Collective::gather,
            .what = std::string(what),
            .out = rank() == root ? out : in,
            .in = in,
            .count = N,
            .root = root,
            .steps = for_all(size(), steps_of)};
  if (rank() == root) {
    CHECK(out.elements() == size() * N && out.dtype() == in.dtype(),
          "{} gather {}: {} ranks give {} elements each, out has {}", axis(), what, size(), N,
          out.elements());
    call.before = {{out, {root * N, N}, in, whole(in)}};
  }
  start(std::move(call)).wait();
}

void Communicator::send(const Tensor& x, int to, std::string_view what) {
  start_send(x, to, what).wait();
}

void Communicator::receive(const Tensor& x, int from, std::string_view what) {
  start_receive(x, from, what).wait();
}

void Communicator::send_receive(const Tensor& out, int from, const Tensor& in, int to,
                                std::string_view what) {
  Pending sent = start_send(in, to, what);
  Pending received = start_receive(out, from, what);
  sent.wait();
  received.wait();
}

std::vector<ControlRecord> Communicator::exchange_scalars(const std::vector<double>& values,
                                                          bool takes_time) {
  CHECK(values.size() <= ControlRecord::kValues, "{}: {} numbers at once, at most {}", axis(),
        values.size(), ControlRecord::kValues);
  std::array<double, ControlRecord::kValues> own{};
  std::ranges::copy(values, own.begin());
  const auto operation = std::make_shared<Pending::Operation>(
      group_, Call{.collective = Collective::scalars, .what = "scalars"}, own);
  group_->instruments.progress.start(operation);
  const auto records = [&] {
    group_->instruments.progress.wait(*operation);
    return operation->records();
  }();
  if (takes_time) operation->finish();
  return records;
}

void Communicator::count_scalars(std::int64_t count) {
  if (size() > 1)
    group_->instruments.traffic.add_call({axis(), "all_reduce", "scalars", "f64"}, 8 * count);
}

std::vector<double> Communicator::sums(const std::vector<double>& values) {
  count_scalars(static_cast<std::int64_t>(values.size()));
  std::vector<double> totals(values.size(), 0);
  for (const ControlRecord& record : exchange_scalars(values))
    for (std::size_t i = 0; i < totals.size(); ++i) totals[i] += record.values[i];
  return totals;
}

double Communicator::max(double value) {
  count_scalars(1);
  double largest = value;
  for (const ControlRecord& record : exchange_scalars({value}))
    largest = std::max(largest, record.values[0]);
  return largest;
}

void Communicator::barrier() {
  exchange_scalars({});
}

std::vector<double> Communicator::agree(const std::vector<double>& values) {
  std::vector<double> largest = values;
  for (const ControlRecord& record : exchange_scalars(values, false))
    for (std::size_t i = 0; i < largest.size(); ++i)
      largest[i] = std::max(largest[i], record.values[i]);
  return largest;
}

bool Communicator::all_equal(std::uint64_t value) {
  // Halves are whole numbers that a double holds; the largest of all is also the smallest.
  const auto high = static_cast<double>(value >> 32), low = static_cast<double>(value & 0xffffffff);
  const std::vector<double> largest = agree({high, low, -high, -low});
  return largest[0] == -largest[2] && largest[1] == -largest[3];
}

std::vector<std::string> Communicator::gather_texts(const std::string& text) {
  const auto lengths = exchange_scalars({static_cast<double>(text.size())}, false);
  std::vector<std::string> texts(static_cast<std::size_t>(rank() == 0 ? size() : 0));
  const auto transfer = std::make_shared<TextTransfer>(*group_->transport);
  if (rank() > 0) transfer->send(text);
  for (int from = 0; from < std::ssize(texts); ++from) {
    std::string& its = texts[static_cast<std::size_t>(from)];
    if (from == 0)
      its = text;
    else
      transfer->receive(its, lengths[static_cast<std::size_t>(from)].values[0], from);
  }
  group_->instruments.progress.start(transfer);
  group_->instruments.progress.wait(*transfer);
  return texts;
}

void Communicator::poll() {
  group_->instruments.progress.poll();
}

// The records carry what rank 0 says, some bytes at a time.
void Communicator::use_nccl(Device& device) {
  group_->library = make_nccl(device, rank(), size(), [&](const Id& of_rank_0) {
    Id id;
    constexpr std::size_t kPiece = ControlRecord::kValues * sizeof(double);
    for (std::size_t begin = 0; begin < id.size(); begin += kPiece) {
      std::vector<double> values(ControlRecord::kValues);
      std::memcpy(values.data(), of_rank_0.data() + begin, kPiece);
      const auto records = exchange_scalars(values, false);
      std::memcpy(id.data() + begin, records.front().values.data(), kPiece);
    }
    return id;
  });
}

Communicator Communicator::split(int colour, int key, const std::string& axis) {
  const double mine = static_cast<double>(colour);
  const auto records = exchange_scalars({mine, static_cast<double>(key)}, false);
  std::vector<int> members;
  for (int r = 0; r < size(); ++r)
    if (records[static_cast<std::size_t>(r)].values[0] == mine) members.push_back(r);
  std::ranges::stable_sort(members, {},
                           [&](int r) { return records[static_cast<std::size_t>(r)].values[1]; });
  std::vector<std::int64_t> global;
  for (const int r : members) global.push_back(group_->global_ranks[static_cast<std::size_t>(r)]);
  Communicator part(group_->transport->split(members, axis), axis, std::move(global),
                    group_->instruments);
  if (group_->library != nullptr) part.group_->library = group_->library->split(members);
  return part;
}

}  // namespace shardlings
