// A library that moves device memory between ranks on its own: NCCL, among GPUs.
//
// It takes the place of the steps of a call; records, clock and ledgers stay what they are. What it
// sends is its own business: the traffic ledger gets the payload, and as bytes sent those of the
// ring that the steps describe, under a link class that says so.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "comm/call.h"

namespace shardlings {

class DeviceCollectives {
 public:
  virtual ~DeviceCollectives() = default;

  // Gives this rank's part to the device's communication stream and returns at once.
  virtual void start(const Call& call) = 0;
  // Whether all that was started is done. Errors: Error(broken) when the library or another rank
  // has failed: what is under way is then given up.
  virtual bool done() = 0;
  // The group of these ranks of this one, in this order. All ranks call it at once.
  virtual std::unique_ptr<DeviceCollectives> split(const std::vector<int>& members) = 0;
};

// What rank 0 says, to all ranks of a group.
using Id = std::array<char, 128>;
using ShareId = std::function<Id(const Id& of_rank_0)>;

// Why NCCL cannot serve, in a few words; "" when it can.
std::string why_no_nccl();

// Requires: why_no_nccl() is ""; `device` is a CUDA device, another GPU on every rank. All ranks
// call it at once. Errors: Error(unavailable) with NCCL's own words.
std::unique_ptr<DeviceCollectives> make_nccl(Device& device, int rank, int size,
                                             const ShareId& share_id);

}  // namespace shardlings
