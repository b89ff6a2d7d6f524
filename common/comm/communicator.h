// A group of ranks and what they can do together: the course's vocabulary of communication.
//
// All calls are collective: every rank of the group makes the same calls in the same order, but for
// messages between two ranks, which concern those two. Tensors are contiguous and stay as they are
// until the call, or its Pending, has ended; outputs come first. `what` names the tensors in the
// traffic ledger: a row is "axis operation what". In a group of one, everything is the identity,
// and nothing is counted.
//
// Before a payload moves, the ranks exchange a record of the call and compare: a call that differs
// ends the job and names both sides; a rank that does not come is named by the watchdog.
// Errors: Error(broken) for shapes, dtypes and calls that do not fit; Error(hang); Aborted.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "clock/clock.h"
#include "comm/call.h"
#include "comm/progress.h"
#include "comm/transport.h"
#include "ledger/traffic_ledger.h"

namespace shardlings {

// The instruments of this rank that communication reads and writes, and the tier it stages through.
struct RankInstruments {
  TrafficLedger& traffic;
  Clock& clock;
  WorkLedger& work;
  Device& host;
  Progress& progress;
};

// A call under way. It owns its buffers; they end at wait(). Outputs are valid after wait().
class [[nodiscard]] Pending {
 public:
  class Operation;  // exchange.h

  Pending() = default;  // nothing to wait for
  explicit Pending(std::shared_ptr<Operation> operation) : operation_(std::move(operation)) {}
  void wait();

 private:
  std::shared_ptr<Operation> operation_;
};

class Communicator {
 public:
  // `global_ranks`: the ranks of the group in the whole job, which place them in the cluster.
  Communicator(std::unique_ptr<Transport> transport, std::string axis,
               std::vector<std::int64_t> global_ranks, const RankInstruments& instruments);
  ~Communicator();
  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;

  const std::string& axis() const;
  int rank() const;
  int size() const;

  // x = the sum (or maximum) over all ranks of x. Cost: 2 (n-1)/n of x sent per rank, in 2 (n-1)
  // messages; memory: the largest shard of x.
  void all_reduce(const Tensor& x, std::string_view what, Reduction reduction = Reduction::sum);
  // mine = shard(rank) of the sum over all ranks of x, of which nothing else is left: x is used up.
  // `mine` may be the place in x. Cost: (n-1)/n of x sent, in n-1 messages; memory: one shard of x.
  void reduce_scatter(const Tensor& mine, const Tensor& x, std::string_view what,
                      Reduction reduction = Reduction::sum);
  // x = the shards of all ranks, in their order. `mine` may be the place in x.
  // Cost: (n-1)/n of x sent, in n-1 messages.
  void all_gather(const Tensor& x, const Tensor& mine, std::string_view what);
  // Block r of `in` goes to rank r; block r of `out` comes from there. Requires: n equal blocks.
  // Cost: (n-1)/n of `in` sent, in n-1 messages.
  void all_to_all(const Tensor& out, const Tensor& in, std::string_view what);
  // The same with blocks of these sizes, in elements. Requires: what a rank sends is what the other
  // expects.
  void all_to_all_v(const Tensor& out, const std::vector<std::int64_t>& out_counts,
                    const Tensor& in, const std::vector<std::int64_t>& in_counts,
                    std::string_view what);
  // x = the root's x. Cost: x sent by every rank but one.
  void broadcast(const Tensor& x, int root, std::string_view what);
  // On the root: out = the `in` of all ranks, in their order; elsewhere `out` is not looked at.
  void gather(const Tensor& out, const Tensor& in, int root, std::string_view what);

  void send(const Tensor& x, int to, std::string_view what);
  void receive(const Tensor& x, int from, std::string_view what);
  // Both at once.
  void send_receive(const Tensor& out, int from, const Tensor& in, int to, std::string_view what);

  // Numbers for everybody: losses, norms, counts. At most four; summed in the order of ranks.
  std::vector<double> sums(const std::vector<double>& values);
  double sum(double value) { return sums({value}).front(); }
  double max(double value);
  void barrier();

  // What steers a run and is no part of it: takes no time on the modelled clock, and is in no
  // ledger. The largest of each number, for everybody.
  std::vector<double> agree(const std::vector<double>& values);
  // Whether all ranks gave the same number, a hash for instance. Steers as well.
  bool all_equal(std::uint64_t value);
  // On rank 0: the text of every rank; elsewhere nothing.
  std::vector<std::string> gather_texts(const std::string& text);

  // The same calls, started; other work may go on until wait().
  Pending start_all_reduce(const Tensor& x, std::string_view what,
                           Reduction reduction = Reduction::sum);
  Pending start_reduce_scatter(const Tensor& mine, const Tensor& x, std::string_view what,
                               Reduction reduction = Reduction::sum);
  Pending start_all_gather(const Tensor& x, const Tensor& mine, std::string_view what);
  Pending start_send(const Tensor& x, int to, std::string_view what);
  Pending start_receive(const Tensor& x, int from, std::string_view what);

  // Moves on what has been started, and does not wait: for a rank that computes between start and
  // wait(), whose messages may need a hand.
  void poll();

  // From now on NCCL moves what lies on this device, and so in groups split off later.
  // Requires: as make_nccl(). Every rank calls it.
  void use_nccl(Device& device);

  // The ranks that give the same colour, in the order of `key`: a new group, called `axis`.
  Communicator split(int colour, int key, const std::string& axis);

  struct Group;

 private:
  Pending start(Call call);
  void count_scalars(std::int64_t count);
  std::vector<ControlRecord> exchange_scalars(const std::vector<double>& values,
                                              bool takes_time = true);

  std::shared_ptr<Group> group_;
};

}  // namespace shardlings
