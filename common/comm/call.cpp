#include "comm/call.h"

namespace shardlings {

std::string_view name_of(Collective collective) {
  switch (collective) {
    case Collective::all_reduce:
      return "all_reduce";
    case Collective::reduce_scatter:
      return "reduce_scatter";
    case Collective::all_gather:
      return "all_gather";
    case Collective::all_to_all:
      return "all_to_all";
    case Collective::broadcast:
      return "broadcast";
    case Collective::gather:
      return "gather";
    case Collective::message:
      return "send";
    case Collective::scalars:
      return "scalars";
  }
  return "?";
}

bool ControlRecord::matches(const ControlRecord& other) const {
  return sequence == other.sequence && collective == other.collective && dtype == other.dtype &&
         reduction == other.reduction && root == other.root && what == other.what &&
         count == other.count;
}

std::string ControlRecord::text() const {
  if (collective == Collective::scalars)
    return fmt::format("operation {}: numbers for all", sequence);
  return fmt::format("operation {}: {} of {}{}{}", sequence, name_of(collective),
                     count < 0 ? "" : fmt::format("{} ", count), name_of(static_cast<DType>(dtype)),
                     root == kNobody ? "" : fmt::format(", root {}", root));
}

}  // namespace shardlings
