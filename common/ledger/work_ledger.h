// Arithmetic as the operations count it, one ledger per rank.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shardlings {

struct Work {
  // Multiply-adds of matrix products and attention, 2 FLOPs each, attention over the full T^2: the
  // convention of the literature, comparable between papers.
  std::int64_t model_flops = 0;
  // The same products as they are really carried out: attention only where the causal mask lets it
  // look, and everything that is computed a second time.
  std::int64_t executed_flops = 0;
  // The part of the executed ones that a Recomputation repeats.
  std::int64_t recomputed_flops = 0;

  Work& operator+=(const Work& other) {
    model_flops += other.model_flops;
    executed_flops += other.executed_flops;
    recomputed_flops += other.recomputed_flops;
    return *this;
  }
  Work operator-(const Work& other) const {
    return {model_flops - other.model_flops, executed_flops - other.executed_flops,
            recomputed_flops - other.recomputed_flops};
  }
  bool operator==(const Work&) const = default;
};

class WorkLedger {
 public:
  // While one lives, all work is work done before: executed once more, and no work of the model.
  class Recomputation {
   public:
    explicit Recomputation(WorkLedger& ledger)
        : ledger_(ledger), outer_(std::exchange(ledger.recomputes_, true)) {}
    ~Recomputation() { ledger_.recomputes_ = outer_; }
    Recomputation(const Recomputation&) = delete;
    Recomputation& operator=(const Recomputation&) = delete;

   private:
    WorkLedger& ledger_;
    bool outer_;
  };

  // An operation's work, and the bytes that it reads and writes.
  void add(const Work& work, std::int64_t moved_bytes = 0) {
    const std::int64_t executed = work.executed_flops;
    total_ += recomputes_ ? Work{.executed_flops = executed, .recomputed_flops = executed} : work;
    if (listener_) listener_(executed, moved_bytes);
  }
  // Hears of every operation: its executed FLOPs, and the bytes that it moves.
  using Listener = std::function<void(std::int64_t flops, std::int64_t bytes)>;
  void set_listener(Listener listener) { listener_ = std::move(listener); }
  bool recomputes() const { return recomputes_; }

  // On whose behalf work is done: a layer, inside another one or not. See Range.
  void enter(std::string_view name) { ranges_.emplace_back(name); }
  void leave() { ranges_.pop_back(); }
  // The innermost; "" outside of all.
  std::string range() const { return ranges_.empty() ? "" : ranges_.back(); }

  // Since the start; take the difference of two readings to measure a step.
  const Work& total() const { return total_; }

 private:
  Work total_;
  bool recomputes_ = false;
  std::vector<std::string> ranges_;
  Listener listener_;
};

}  // namespace shardlings
