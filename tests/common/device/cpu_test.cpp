// The memory of the CPU device.
#include "device/cpu/cpu_device.h"

#include <cstring>

#include "tests/support/catch.h"

using namespace shardlings;
using Catch::Matchers::Contains;

namespace {

std::shared_ptr<Storage> allocate(Device& device, std::int64_t bytes) {
  return device.allocate(bytes, Category::workspace, "test");
}

}  // namespace

TEST_CASE("blocks are aligned to cache lines, and reused by size") {
  MemoryLedger memory("device");
  WorkLedger work;
  CpuDevice device(memory, work, 1);
  for (const std::int64_t bytes : {0, 1, 63, 64, 65, 5000, 3 << 20}) {
    auto block = allocate(device, bytes);
    REQUIRE(reinterpret_cast<std::uintptr_t>(block->data()) % 64 == 0);
    std::memset(block->data(), 1, static_cast<std::size_t>(bytes));
    void* const where = block->data();
    block.reset();
    const auto again = allocate(device, bytes), another = allocate(device, bytes);
    CHECK(again->data() == where);
    CHECK(another->data() != where);
  }
}

TEST_CASE("memory that the machine does not have is one clear error, and nothing is counted") {
  MemoryLedger memory("device");
  WorkLedger work;
  CpuDevice device(memory, work, 1);
  try {
    allocate(device, std::int64_t{1} << 60);
    FAIL("an exbibyte was allocated");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::out_of_memory);
    CHECK_THAT(error.what(), Contains("test: the machine has no"));
  }
  CHECK(memory.now().total() == 0);
}

TEST_CASE("addresses are moved by the offset, and null stays null") {
  std::int32_t values[4]{};
  const Cpu cpu{.address_offset = 8};
  CHECK(cpu.at<std::int32_t>(static_cast<void*>(values)) == values + 2);
  CHECK(cpu.at<std::int32_t>(static_cast<const void*>(values)) == values + 2);
  CHECK(cpu.at<std::int32_t>(static_cast<void*>(nullptr)) == nullptr);
}
