#include "device/guarded/guarded_device.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace shardlings {

namespace {

// Every byte 0xFF: a NaN as f32, f64 and bf16, -1 as an index.
constexpr int kPoison = 0xFF;

// As the CPU device aligns its blocks, since sums in Eigen depend on the alignment of their
// operands.
constexpr std::int64_t kAlignment = 64;

std::int64_t block_size(std::int64_t bytes) {
  return std::max(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
}

// `bytes` that may be read and written, followed by as many that may not.
std::byte* map_arena(std::int64_t bytes) {
  const auto half = static_cast<std::size_t>(bytes);
  void* both =
      mmap(nullptr, 2 * half, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (both == MAP_FAILED || mprotect(both, half, PROT_READ | PROT_WRITE) != 0)
    fail(ExitCode::out_of_memory, "the guarded device cannot reserve 2 x {} bytes of address space",
         bytes);
  return static_cast<std::byte*>(both);
}

}  // namespace

GuardedDevice::GuardedDevice(MemoryLedger& memory, WorkLedger& work, int threads,
                             std::int64_t arena_bytes)
    : Device(memory, work),
      cpu_{.threads = threads, .address_offset = -arena_bytes},
      arena_bytes_(arena_bytes) {
  CHECK(threads >= 1, "a guarded device needs at least one thread, got {}", threads);
  arena_ = map_arena(arena_bytes);
  free_.emplace(arena_ + arena_bytes, arena_bytes);
}

GuardedDevice::~GuardedDevice() {
  munmap(arena_, 2 * static_cast<std::size_t>(arena_bytes_));
}

void GuardedDevice::give(Stream stream, Job job) {
  queues_[static_cast<std::size_t>(stream)].jobs.push_back(std::move(job));
}

// A job that waits for an event runs the event's stream up to there, from inside its own. That
// ends: an event is older than whatever waits for it, so the calls only ever reach back.
void GuardedDevice::run_until(Event event) {
  Queue& queue = queues_[static_cast<std::size_t>(event.stream)];
  while (queue.taken < event.ticket) {
    const Job job = std::move(queue.jobs.front());
    queue.jobs.pop_front();
    ++queue.taken;
    job();
  }
}

Event GuardedDevice::record(Stream stream) {
  const Queue& queue = queues_[static_cast<std::size_t>(stream)];
  return {stream, queue.taken + queue.jobs.size()};
}

void GuardedDevice::wait(Stream stream, Event event) {
  give(stream, [this, event] { run_until(event); });
}

void GuardedDevice::synchronize(Stream stream) {
  run_until(record(stream));
}

void GuardedDevice::run(const Operation& operation, Stream stream) {
  give(stream, [this, operation] { run_on_cpu(operation, cpu_); });
}

void GuardedDevice::upload(void* to, const void* from, std::int64_t bytes, Stream stream) {
  const auto* begin = static_cast<const std::byte*>(from);
  give(stream, [this, to, data = std::vector<std::byte>(begin, begin + bytes)] {
    std::memcpy(cpu_.at<std::byte>(to), data.data(), data.size());
  });
}

void GuardedDevice::download(void* to, const void* from, std::int64_t bytes, Stream stream) {
  give(stream, [this, to, from, bytes] {
    std::memcpy(to, cpu_.at<std::byte>(from), static_cast<std::size_t>(bytes));
  });
}

void* GuardedDevice::acquire(std::int64_t bytes) {
  const std::int64_t size = block_size(bytes);
  void* data = take_first_fit(size);
  if (data == nullptr) {
    synchronize(Stream::compute);  // frees may be waiting there
    data = take_first_fit(size);
  }
  if (data == nullptr) return nullptr;
  // Once for those who read too early, and once in compute's order for those who write too early.
  poison(data, size);
  give(Stream::compute, [this, data, size] { poison(data, size); });
  return data;
}

void GuardedDevice::release(void* data, std::int64_t bytes) {
  give(Stream::compute, [this, data, size = block_size(bytes)] {
    poison(data, size);
    give_back(data, size);
  });
}

void* GuardedDevice::take_first_fit(std::int64_t size) {
  const auto block = std::find_if(free_.begin(), free_.end(),
                                  [size](const auto& entry) { return entry.second >= size; });
  if (block == free_.end()) return nullptr;
  const auto [data, available] = *block;
  free_.erase(block);
  if (available > size) free_.emplace(data + size, available - size);
  return data;
}

void GuardedDevice::give_back(void* data, std::int64_t size) {
  const auto block = free_.emplace(static_cast<std::byte*>(data), size).first;
  const auto merge = [this](auto first, auto second) {
    if (first->first + first->second != second->first) return;
    first->second += second->second;
    free_.erase(second);
  };
  const auto next = std::next(block);
  if (next != free_.end()) merge(block, next);
  if (block != free_.begin()) merge(std::prev(block), block);
}

void GuardedDevice::poison(void* data, std::int64_t size) const {
  std::memset(cpu_.at<std::byte>(data), kPoison, static_cast<std::size_t>(size));
}

}  // namespace shardlings
