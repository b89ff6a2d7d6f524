#include "comm/flight_recorder.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/check.h"

namespace shardlings {

namespace {

constexpr int kCalls = 3;
constexpr std::size_t kCallLength = 120;

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void* map(int file, std::int64_t bytes) {
  const int flags = file < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED;
  void* data =
      mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, flags, file, 0);
  if (data == MAP_FAILED)
    fail(ExitCode::io, "cannot map {} bytes of shared memory: {}", bytes, std::strerror(errno));
  return data;
}

}  // namespace

SharedMemory::SharedMemory(std::int64_t bytes) : data_(map(-1, bytes)), bytes_(bytes) {}

SharedMemory::SharedMemory(const std::string& file, std::int64_t bytes)
    : data_(nullptr), bytes_(bytes) {
  const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0 || ftruncate(descriptor, bytes) != 0) {
    const int error = errno;
    if (descriptor >= 0) close(descriptor);
    fail(ExitCode::io, "cannot make the shared file {}: {}", file, std::strerror(error));
  }
  data_ = map(descriptor, bytes);
  close(descriptor);
}

SharedMemory::~SharedMemory() {
  munmap(data_, static_cast<std::size_t>(bytes_));
}

// Written by one rank and read by others at a bad moment: text may be torn, and is cut at its end.
struct FlightRecorder::Slot {
  std::atomic<std::int64_t> beat_ms;  // 0: not started
  std::atomic<bool> finished;
  std::atomic<std::int64_t> calls;
  struct Call {
    std::atomic<std::int64_t> at_ms;
    char text[kCallLength];
  } last[kCalls];
};

std::int64_t FlightRecorder::bytes(int ranks) {
  return ranks * static_cast<std::int64_t>(sizeof(Slot));
}

FlightRecorder::FlightRecorder(std::shared_ptr<SharedMemory> memory, int rank, int ranks)
    : memory_(std::move(memory)), rank_(rank), ranks_(ranks) {
  beat();
}

FlightRecorder::Slot& FlightRecorder::slot(int rank) const {
  return static_cast<Slot*>(memory_->data())[rank];
}

void FlightRecorder::beat() {
  slot(rank_).beat_ms.store(now_ms(), std::memory_order_relaxed);
}

void FlightRecorder::note(std::string_view call) {
  Slot& mine = slot(rank_);
  const std::int64_t index = mine.calls.load(std::memory_order_relaxed);
  Slot::Call& entry = mine.last[index % kCalls];
  const std::size_t length = std::min(call.size(), kCallLength - 1);
  std::memcpy(entry.text, call.data(), length);
  entry.text[length] = '\0';
  entry.at_ms.store(now_ms(), std::memory_order_relaxed);
  mine.calls.store(index + 1, std::memory_order_release);
  beat();
}

double FlightRecorder::quiet_seconds() const {
  std::int64_t latest = 0;
  for (int rank = 0; rank < ranks_; ++rank)
    if (!slot(rank).finished.load(std::memory_order_relaxed))
      latest = std::max(latest, slot(rank).beat_ms.load(std::memory_order_relaxed));
  return static_cast<double>(now_ms() - latest) / 1e3;
}

void FlightRecorder::finish() {
  slot(rank_).finished.store(true, std::memory_order_relaxed);
}

std::string FlightRecorder::table() const {
  std::string text;
  const std::int64_t now = now_ms();
  for (int rank = 0; rank < ranks_; ++rank) {
    const Slot& its = slot(rank);
    text += fmt::format("  rank {}: ", rank);
    const std::int64_t calls = its.calls.load(std::memory_order_acquire);
    if (its.beat_ms.load(std::memory_order_relaxed) == 0)
      text += "never started";
    else if (calls == 0)
      text += "no communication yet";
    for (std::int64_t i = calls - 1; i >= std::max<std::int64_t>(0, calls - kCalls); --i) {
      const Slot::Call& entry = its.last[i % kCalls];
      text += fmt::format("{}{} ({:.1f} s ago)", i == calls - 1 ? "" : "; before that ",
                          std::string(entry.text, strnlen(entry.text, kCallLength - 1)),
                          static_cast<double>(now - entry.at_ms.load()) / 1e3);
    }
    text += its.finished.load() ? "; finished\n" : "\n";
  }
  return text;
}

}  // namespace shardlings
