// Point to point: bytes from one rank of a group to another. All that a backend supplies; what is
// sent in which order is decided above, once for all backends (steps.h, exchange.h).
//
// Messages from one rank to another with the same channel and tag arrive in the order in which they
// were sent and are received in the order in which receives were started. Nothing here blocks.
// Not thread-safe: one thread of control per rank.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace shardlings {

// Control records travel beside the payload; only payload is in the traffic ledger.
enum class Channel { payload, control };

class Transport {
 public:
  virtual ~Transport() = default;

  // "self", "threads", "mpi".
  virtual std::string kind() const = 0;
  int rank() const { return rank_; }
  int size() const { return size_; }

  // A message under way. The buffer stays as it is until done() was true, once.
  using Request = std::uint64_t;
  virtual Request start_send(const void* data, std::int64_t bytes, int to, Channel channel,
                             int tag) = 0;
  // Requires: the message has exactly `bytes` bytes.
  virtual Request start_receive(void* data, std::int64_t bytes, int from, Channel channel,
                                int tag) = 0;
  // Whether it has arrived, or its buffer may be used again. After true the request is gone.
  virtual bool done(Request request) = 0;
  // Gives up on a message, after a failure: its buffer is not touched any more.
  virtual void cancel(Request request) = 0;

  // A group of some ranks of this one, in the given order; this rank is among them. Every rank of
  // this group calls it, each with its own group. The name is that of the MPI communicator.
  virtual std::unique_ptr<Transport> split(const std::vector<int>& members,
                                           const std::string& name) = 0;

 protected:
  Transport(int rank, int size) : rank_(rank), size_(size) {}

 private:
  int rank_, size_;
};

}  // namespace shardlings
