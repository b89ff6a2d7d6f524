// Ranks as threads of one process: a message is copied from its sender's buffer straight into its
// receiver's, by whichever comes second.
//
// Like a synchronous send of MPI, a message has only left when it has arrived: a program that
// relies on the library to buffer what nobody receives hangs here, always.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <optional>

#include "comm/flight_recorder.h"
#include "comm/transport.h"

namespace shardlings {

// What a rank is started with.
struct RankStart {
  std::unique_ptr<Transport> transport;  // to all ranks of the job
  FlightRecorder recorder;
  const std::atomic<bool>* failed = nullptr;  // set once another rank has failed; null: cannot be
  int ranks_on_this_machine = 1;
  int rank_on_this_machine = 0;
};

struct RankFailure {
  int rank;
  std::exception_ptr error;
};

// The only rank of a job of one.
RankStart start_alone();

// Calls body once per rank, each on a thread of its own, and waits for all. After an exception in
// one rank the others are woken and end with Aborted; the first one is returned. Requires: ranks
// >= 1.
std::optional<RankFailure> run_as_threads(int ranks, const std::function<void(RankStart)>& body);

}  // namespace shardlings
