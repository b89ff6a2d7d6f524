// Released blocks of memory, by size. A training step asks for the same sizes in the same order
// every time, so after the first step nothing is asked of the system any more.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace shardlings {

class FreeBlocks {
 public:
  void put(void* block, std::int64_t bytes) { blocks_[bytes].push_back(block); }

  // The block of exactly that size that was put in last, or null.
  void* take(std::int64_t bytes) {
    const auto found = blocks_.find(bytes);
    if (found == blocks_.end() || found->second.empty()) return nullptr;
    void* block = found->second.back();
    found->second.pop_back();
    return block;
  }

  // Hands every block to `free`; none is left.
  template <class Free>
  void clear(const Free& free) {
    for (const auto& [bytes, blocks] : blocks_)
      for (void* block : blocks) free(block);
    blocks_.clear();
  }

 private:
  std::map<std::int64_t, std::vector<void*>> blocks_;
};

}  // namespace shardlings
