// One communication call as data: what a rank asks for, and the record of it that the ranks of a
// group compare before any payload moves.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "comm/steps.h"
#include "tensor/tensor.h"

namespace shardlings {

enum class Collective : std::uint8_t {
  all_reduce,
  reduce_scatter,
  all_gather,
  all_to_all,
  broadcast,
  gather,
  message,  // from one rank to another
  scalars,  // at most four numbers, which the records themselves carry
};
std::string_view name_of(Collective collective);

enum class Reduction : std::uint8_t { sum, max };

// Elements that change place on this rank alone.
struct LocalCopy {
  Tensor to;
  Span to_span;
  Tensor from;
  Span from_span;
};

struct Call {
  Collective collective = Collective::scalars;
  std::string what = {};     // of the traffic ledger's row: "gradients"
  Tensor out = {}, in = {};  // contiguous; steps receive into out and send from in (often the same)
  std::int64_t count = 0;  // elements that the call is about; ranks must agree (-1: they need not)
  Reduction reduction = Reduction::sum;
  int root = kNobody;
  std::vector<Steps> steps = {};  // of every rank of the group
  std::vector<LocalCopy> before = {}, after = {};
};

// 64 bytes, sent to every rank of the group.
struct ControlRecord {
  static constexpr int kValues = 4;

  std::uint32_t sequence = 0;  // of the group's calls
  Collective collective = Collective::scalars;
  std::uint8_t dtype = 0;
  Reduction reduction = Reduction::sum;
  std::uint8_t unused = 0;
  std::int32_t root = kNobody;
  std::uint32_t what = 0;  // its hash
  std::int64_t count = 0;
  double clock = 0;  // when this rank can begin, on the modelled clock
  std::array<double, kValues> values{};

  // What all ranks of a group must agree on.
  bool matches(const ControlRecord& other) const;
  // "operation 12: all_reduce of 100 f32"
  std::string text() const;
};
static_assert(sizeof(ControlRecord) == 64);

}  // namespace shardlings
