#include "device/cpu/cpu_device.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

namespace shardlings {

namespace {

constexpr std::int64_t kCacheLine = 64;
constexpr std::int64_t kHugePage = 2 << 20;

std::int64_t round_up(std::int64_t bytes, std::int64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

CpuDevice::CpuDevice(MemoryLedger& memory, WorkLedger& work, int threads)
    : Device(memory, work), cpu_{.threads = threads} {
  CHECK(threads >= 1, "a CPU device needs at least one thread, got {}", threads);
}

CpuDevice::~CpuDevice() {
  free_blocks_.clear(std::free);
}

void* CpuDevice::acquire(std::int64_t bytes) {
  if (void* block = free_blocks_.take(bytes)) return block;
  const std::int64_t unit = bytes >= kHugePage ? kHugePage : kCacheLine;
  const std::int64_t size = round_up(std::max<std::int64_t>(bytes, 1), unit);
  void* block = std::aligned_alloc(static_cast<std::size_t>(unit), static_cast<std::size_t>(size));
  // Huge pages for the whole ones inside; the tail keeps small pages, so that it costs what it
  // needs.
  if (block != nullptr && bytes >= kHugePage)
    madvise(block, static_cast<std::size_t>(bytes / kHugePage * kHugePage), MADV_HUGEPAGE);
  return block;
}

void CpuDevice::release(void* data, std::int64_t bytes) {
  free_blocks_.put(data, bytes);
}

void CpuDevice::run(const Operation& operation, Stream) {
  run_on_cpu(operation, cpu_);
}

void CpuDevice::upload(void* to, const void* from, std::int64_t bytes, Stream) {
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

void CpuDevice::download(void* to, const void* from, std::int64_t bytes, Stream) {
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

}  // namespace shardlings
