#include "ledger/memory_ledger.h"

#include <algorithm>
#include <numeric>

#include "base/units.h"

namespace shardlings {

namespace {

constexpr std::array<std::string_view, kCategories> kNames{
    "parameters", "gradients", "optimizer", "activations", "communication", "workspace"};

constexpr int kModelCategories = 4;  // parameters ... activations

}  // namespace

std::string_view name_of(Category category) {
  return kNames[static_cast<std::size_t>(category)];
}

std::int64_t MemoryUse::total() const {
  return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
}

std::int64_t MemoryUse::model_and_activations() const {
  return std::accumulate(bytes.begin(), bytes.begin() + kModelCategories, std::int64_t{0});
}

MemoryLedger::MemoryLedger(std::string tier, std::int64_t cap_bytes)
    : tier_(std::move(tier)), cap_bytes_(cap_bytes) {
  CHECK(cap_bytes >= 0, "the memory cap is {} bytes", cap_bytes);
}

MemoryLedger::Entry MemoryLedger::add(std::int64_t bytes, Category category,
                                      std::string_view owner) {
  CHECK(bytes >= 0, "{} asks for {} bytes", owner, bytes);
  const std::int64_t in_use = now_.total();
  if (bytes > cap_bytes_ - in_use)
    throw OutOfMemory(
        fmt::format(
            "out of {} memory: {} asks for {}, and {} of {} are free; this is alive:", tier_, owner,
            format_bytes(bytes), format_bytes(cap_bytes_ - in_use), format_bytes(cap_bytes_)),
        table());
  live_.emplace(next_entry_, Record{std::string(owner), category, bytes});
  now_[category] += bytes;
  note_peaks();
  return next_entry_++;
}

void MemoryLedger::remove(Entry entry) {
  const auto found = live_.find(entry);
  CHECK(found != live_.end(), "{} ledger: entry {} is not alive", tier_, entry);
  if (snapshot_due_) take_snapshot();
  now_[found->second.category] -= found->second.bytes;
  live_.erase(found);
}

void MemoryLedger::retag(Entry entry, Category category) {
  const auto found = live_.find(entry);
  CHECK(found != live_.end(), "{} ledger: entry {} is not alive", tier_, entry);
  Record& record = found->second;
  if (record.category == category) return;
  if (snapshot_due_) take_snapshot();
  now_[record.category] -= record.bytes;
  now_[category] += record.bytes;
  record.category = category;
  note_peaks();
}

void MemoryLedger::note_peaks() {
  for (std::size_t i = 0; i < kCategories; ++i)
    category_peaks_.bytes[i] = std::max(category_peaks_.bytes[i], now_.bytes[i]);
  if (now_.model_and_activations() > at_joint_peak_.model_and_activations()) at_joint_peak_ = now_;
  if (now_.total() > peak_bytes_) {
    peak_bytes_ = now_.total();
    snapshot_due_ = true;
  }
}

const MemoryUse& MemoryLedger::at_peak() const {
  if (snapshot_due_) take_snapshot();
  return at_peak_;
}

const std::vector<OwnerBytes>& MemoryLedger::owners_at_peak() const {
  if (snapshot_due_) take_snapshot();
  return owners_at_peak_;
}

void MemoryLedger::take_snapshot() const {
  at_peak_ = now_;
  owners_at_peak_ = owners();
  snapshot_due_ = false;
}

std::vector<OwnerBytes> MemoryLedger::owners() const {
  std::map<std::pair<std::string_view, Category>, std::int64_t> sums;
  for (const auto& [entry, record] : live_) sums[{record.owner, record.category}] += record.bytes;
  std::vector<OwnerBytes> owners;
  for (const auto& [key, bytes] : sums)
    owners.push_back({std::string(key.first), key.second, bytes});
  std::stable_sort(owners.begin(), owners.end(),
                   [](const OwnerBytes& a, const OwnerBytes& b) { return a.bytes > b.bytes; });
  return owners;
}

std::string MemoryLedger::table() const {
  std::string text;
  for (std::size_t i = 0; i < kCategories; ++i)
    text += fmt::format("  {:<16}{:>10}\n", kNames[i], format_bytes(now_.bytes[i]));
  text += "  largest owners:\n";
  const std::vector<OwnerBytes> all = owners();
  for (std::size_t i = 0; i < std::min<std::size_t>(8, all.size()); ++i)
    text += fmt::format("  {:>10}  {} ({})\n", format_bytes(all[i].bytes), all[i].owner,
                        name_of(all[i].category));
  return text;
}

}  // namespace shardlings
