#include "clock/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/check.h"
#include "base/suggest.h"
#include "clock/cluster_file.h"

namespace shardlings {

const Link& Cluster::link(std::int64_t rank, std::int64_t other) const {
  CHECK(rank >= 0 && other >= 0 && chips_per_node > 0,
        "no link between ranks {} and {} on nodes of {} chips", rank, other, chips_per_node);
  return rank / chips_per_node == other / chips_per_node ? inside : between;
}

const Link& Cluster::slowest_link(std::span<const std::int64_t> ranks) const {
  CHECK(!ranks.empty(), "no link among no ranks");
  // Two of them are on different nodes only if one is on another node than the first.
  const auto beyond = std::ranges::find_if(
      ranks, [&](std::int64_t rank) { return &link(ranks[0], rank) == &between; });
  return beyond == ranks.end() ? inside : between;
}

Cluster cluster_named(const std::string& name) {
  if (name.find('/') != name.npos || name.ends_with(".toml")) return read_cluster(name);
  const std::vector<Cluster> clusters = parse_clusters(clusters_toml(), "clusters.toml");
  const auto found = std::ranges::find(clusters, name, &Cluster::name);
  if (found != clusters.end()) return *found;

  std::vector<std::string_view> names;
  for (const Cluster& cluster : clusters) names.push_back(cluster.name);
  const std::string near = nearest(name, names);
  fail(ExitCode::usage, "there is no cluster {:?}; {}there are {}, or the path of a .toml file",
       name, near.empty() ? "" : "did you mean " + near + "? ", fmt::join(names, ", "));
}

std::vector<std::string> cluster_names() {
  std::vector<std::string> names;
  for (const Cluster& cluster : parse_clusters(clusters_toml(), "clusters.toml"))
    names.push_back(cluster.name);
  return names;
}

}  // namespace shardlings
