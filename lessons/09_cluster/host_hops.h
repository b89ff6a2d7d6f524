// What a message to a chip of another node passes, with RDMA and without.
//
//   RDMA      chip → port ~~~ port → chip
//   through   chip → host memory → port ~~~ port → host memory → chip
//   hosts
//
// With GPUDirect RDMA the port reads the chip's memory and writes into the other's by itself: the
// bytes cross PCIe once at each end and never touch host memory. Without, a copy engine puts them
// into host memory first, where the port reads them, and at the other end the same backwards.
// [docs.nvidia.com/cuda/gpudirect-rdma; github.com/NVIDIA/nccl, issue 465]
#pragma once

#include <string_view>
#include <vector>

#include "clock/cluster.h"

namespace shardlings::lesson09 {

// PCIe 5.0, 16 lanes, one way: 32 GT/s per lane, 128 of 130 bits are data. [PCI-SIG]
inline constexpr double kPcieBytesPerSecond = 16 * 32e9 * 128 / 130 / 8;

// A stretch that a message passes without being put down; its slowest part sets the rate.
struct Stretch {
  std::string_view from, to;
  double bytes_per_second;
};
std::vector<Stretch> stretches(const Link& between, bool rdma);

// The message as a whole, one stretch after the other. Libraries cut large messages into chunks, so
// that stretches overlap: what is left then is the slowest stretch, and the traffic in the hosts.
double message_seconds(const Link& between, bool rdma, double bytes);

// Bytes written to host memory and read from it, at both ends.
double host_memory_bytes(bool rdma, double bytes);

}  // namespace shardlings::lesson09
