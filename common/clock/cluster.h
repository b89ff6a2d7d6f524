// Chips, links and how they are put together, as data: clusters.toml, each number with its source.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace shardlings {

// Nothing takes time until a rate is given: so a cluster that nobody asked for is a fast one.
inline constexpr double kAtOnce = std::numeric_limits<double>::infinity();

// One accelerator. Rates are what the data sheet promises for dense numbers, per second.
struct Chip {
  std::string name = {};
  double flops = kAtOnce;             // of matrix products in the precision that `precision` names
  std::string precision = {};         // "bf16", "f16", "f32"
  double memory_bandwidth = kAtOnce;  // bytes, read and written
  double memory_bytes = 0;

  bool operator==(const Chip&) const = default;
};

// What a message between two ranks crosses: alpha + bytes / beta.
struct Link {
  std::string name = {};       // the link class in reports: "nvlink", "infiniband", "ethernet"
  double latency = 0;          // alpha, seconds
  double bandwidth = kAtOnce;  // beta, bytes per second, one way, of one chip

  double seconds(double bytes) const { return latency + bytes / bandwidth; }
  bool operator==(const Link&) const = default;
};

// Chips in nodes; ranks fill one node after the other. A link within a node, another between nodes.
struct Cluster {
  std::string name = {};  // "": none was asked for
  Chip chip = {};
  std::int64_t chips_per_node = 1;
  Link inside = {}, between = {};

  // The link that a message between two global ranks crosses.
  const Link& link(std::int64_t rank, std::int64_t other) const;
  // The slower of the links among these global ranks: `between` as soon as they are on two nodes.
  // Requires: at least one rank.
  const Link& slowest_link(std::span<const std::int64_t> ranks) const;

  bool operator==(const Cluster&) const = default;
};

// A name of clusters.toml, or the path (with a / or ending in .toml) of a file in the same form, of
// one cluster.
// Errors: Error(usage) that shows the nearest name; Error(no_input) and Error(bad_data) for a file.
Cluster cluster_named(const std::string& name);
// In the order of clusters.toml.
std::vector<std::string> cluster_names();

}  // namespace shardlings
