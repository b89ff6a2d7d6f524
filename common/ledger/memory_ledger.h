// What is alive, in which category and whose it is: the instrument behind every memory row of a
// report.
//
// One ledger per rank and tier (device, host). A plain recorder: devices report each storage as it
// is made, re-tagged and released; the ledger never allocates for anybody and never estimates. All
// bytes are the requested bytes, unrounded. Not thread-safe: a rank has one thread of control.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"

namespace shardlings {

enum class Category { parameters, gradients, optimizer, activations, communication, workspace };
inline constexpr int kCategories = 6;

std::string_view name_of(Category category);

// Bytes by category.
struct MemoryUse {
  std::array<std::int64_t, kCategories> bytes{};

  std::int64_t& operator[](Category c) { return bytes[static_cast<std::size_t>(c)]; }
  std::int64_t operator[](Category c) const { return bytes[static_cast<std::size_t>(c)]; }
  std::int64_t total() const;
  // parameters + gradients + optimizer + activations: what the model itself needs.
  std::int64_t model_and_activations() const;
};

struct OwnerBytes {
  std::string owner;
  Category category;
  std::int64_t bytes;
};

// The cap was exceeded. what() is one line; table() shows what was alive at that moment.
class OutOfMemory : public Error {
 public:
  OutOfMemory(const std::string& line, std::string table)
      : Error(ExitCode::out_of_memory, line), table_(std::move(table)) {}
  const std::string& table() const { return table_; }

 private:
  std::string table_;
};

class MemoryLedger {
 public:
  using Entry = std::uint64_t;  // names one live storage

  static constexpr std::int64_t kNoCap = INT64_MAX;

  // `tier` is "device" or "host". Requires: cap_bytes >= 0.
  explicit MemoryLedger(std::string tier, std::int64_t cap_bytes = kNoCap);

  // Errors: OutOfMemory when the total would exceed the cap; the ledger is then unchanged.
  Entry add(std::int64_t bytes, Category category, std::string_view owner);
  void remove(Entry entry);
  void retag(Entry entry, Category category);

  const std::string& tier() const { return tier_; }
  const MemoryUse& now() const { return now_; }
  // What is alive now, by owner, largest first (storages of one owner and category added up).
  std::vector<OwnerBytes> owners() const;

  // The highest total so far, and what was alive at the first instant it was reached: by category,
  // and by owner.
  std::int64_t peak_bytes() const { return peak_bytes_; }
  const MemoryUse& at_peak() const;
  const std::vector<OwnerBytes>& owners_at_peak() const;

  // Each category's own peak. These peaks need not fall together, so they do not add up.
  const MemoryUse& category_peaks() const { return category_peaks_; }

  // The instant at which model_and_activations() was largest.
  const MemoryUse& at_joint_peak() const { return at_joint_peak_; }

 private:
  struct Record {
    std::string owner;
    Category category;
    std::int64_t bytes;
  };

  void note_peaks();
  void take_snapshot() const;
  std::string table() const;

  std::string tier_;
  std::int64_t cap_bytes_;
  Entry next_entry_ = 1;
  std::map<Entry, Record> live_;
  MemoryUse now_, category_peaks_, at_joint_peak_;
  std::int64_t peak_bytes_ = 0;

  // Bytes rise through many new peaks before they fall. The snapshot is therefore taken only when
  // the state is about to leave a new peak, or when somebody asks.
  mutable bool snapshot_due_ = false;
  mutable MemoryUse at_peak_;
  mutable std::vector<OwnerBytes> owners_at_peak_;
};

}  // namespace shardlings
