// Arithmetic as the operations count it, one ledger per rank.
#pragma once

#include <cstdint>

namespace shardlings {

struct Work {
  // Multiply-adds of matrix products and attention, 2 FLOPs each, attention over the full T^2: the
  // convention of the literature, comparable between papers.
  std::int64_t model_flops = 0;
  // The same products as they are really carried out: attention only where the causal mask lets it
  // look, and everything that is computed a second time.
  std::int64_t executed_flops = 0;

  Work& operator+=(const Work& other) {
    model_flops += other.model_flops;
    executed_flops += other.executed_flops;
    return *this;
  }
  Work operator-(const Work& other) const {
    return {model_flops - other.model_flops, executed_flops - other.executed_flops};
  }
  bool operator==(const Work&) const = default;
};

class WorkLedger {
 public:
  void add(const Work& work) { total_ += work; }
  // Since the start; take the difference of two readings to measure a step.
  const Work& total() const { return total_; }

 private:
  Work total_;
};

}  // namespace shardlings
