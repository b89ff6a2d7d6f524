// What a program really sent over MPI: counts of pmpi_counter.cpp, a library that is loaded before
// MPI itself (LD_PRELOAD) and listens to its calls.
#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <string>

namespace shardlings {

struct SentOverMpi {
  std::int64_t messages = 0, bytes = 0;
  bool operator==(const SentOverMpi&) const = default;
};

// By the names of groups, of which those of control messages are left out. Of a file with lines
// "group messages bytes" or "group messages bytes call"; nothing when there is no file.
inline std::map<std::string, SentOverMpi> read_sent(const std::string& file) {
  std::map<std::string, SentOverMpi> groups;
  std::ifstream in(file);
  std::string group, call;
  for (SentOverMpi sent; in >> group >> sent.messages >> sent.bytes; std::getline(in, call)) {
    if (group.ends_with(".control") || sent.messages == 0) continue;
    groups[group].messages += sent.messages;
    groups[group].bytes += sent.bytes;
  }
  return groups;
}

}  // namespace shardlings
