// This rank's communication under way, on all its communicators together.
//
// One per rank. Whoever waits for one exchange moves all of them on: so ranks may start and wait
// for independent exchanges in different orders and never wait for each other in a circle. Waiting
// tests, yields, then sleeps; it never blocks inside a library and leaves the cores to ranks that
// compute.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "comm/flight_recorder.h"

namespace shardlings {

// Something that goes on in small steps. advance() never blocks; true when it is done.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual bool advance() = 0;
  // Whether its partner has come and a message is on its way that takes long enough to wait awake.
  virtual bool moves_much() const { return false; }
  bool is_done() const { return done_; }

 private:
  friend class Progress;
  bool done_ = false;
};

// Why a rank stops although it did nothing wrong: another one failed. Nobody prints it.
struct Aborted {};

class Progress {
 public:
  // `failed` is set once any rank of the job has failed; null where that kills the process anyway.
  Progress(FlightRecorder& recorder, const std::atomic<bool>* failed, double patience_seconds)
      : recorder_(recorder), failed_(failed), patience_seconds_(patience_seconds) {}

  FlightRecorder& recorder() { return recorder_; }
  // Numbers the operations of this rank, from 0.
  std::int64_t next_number() { return operations_++; }

  void start(const std::shared_ptr<Exchange>& exchange);
  // Moves everything on once. True when something got further.
  void poll();
  // Errors: Aborted; Error(hang) with every rank's last calls when no rank has got on for the time
  // of our patience; whatever an exchange throws.
  void wait(const Exchange& exchange);

 private:
  FlightRecorder& recorder_;
  const std::atomic<bool>* failed_;
  double patience_seconds_;
  std::int64_t operations_ = 0;
  std::vector<std::shared_ptr<Exchange>> under_way_;
};

}  // namespace shardlings
