// Clusters as text: the form of clusters.toml.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "clock/cluster.h"

namespace shardlings {

// The clusters of a text, in its order. A number is given with its source, which is for the reader
// of the file alone: the clock does not keep it.
// Errors: Error(bad_data), "file:line:column: what was expected".
std::vector<Cluster> parse_clusters(std::string_view text, const std::string& file);

// The one cluster of a file.
// Errors: Error(no_input) when it cannot be read; Error(bad_data) as above, or when there is not
// exactly one.
Cluster read_cluster(const std::filesystem::path& path);

// Puts the file in the place of `path`, whole or not at all; read_cluster() gives the same cluster
// back, to the bit. `source` says where the numbers come from ("ping-pong of 4 ranks on my
// laptop"). Errors: Error(io); Error(bad_data) for what a file could not hold (a rate of zero, a
// quote in a name).
void write_cluster(const Cluster& cluster, const std::string& source,
                   const std::filesystem::path& path);

// The text of clusters.toml, part of the program.
std::string_view clusters_toml();

}  // namespace shardlings
