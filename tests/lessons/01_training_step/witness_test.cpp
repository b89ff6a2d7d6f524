// The ledger against the operating system: what the process really holds at its peak is what the
// ledger says, on a model large enough for everything else to be small.
#include <sys/resource.h>

#include <fstream>

#include "tests/lessons/01_training_step/support.h"
#include "tests/support/catch.h"

using namespace shardlings;
using namespace shardlings::lesson01;

namespace {

// A field of /proc/self/status, in bytes.
std::int64_t process_memory(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind(field + ":", 0) == 0) return std::stoll(line.substr(field.size() + 1)) * 1024;
  FAIL("no " << field << " in /proc/self/status");
  return 0;
}

// Pages that the system has had to give to this process so far.
std::int64_t page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

// Outside the ledger: thread stacks, the panels of packed products (5 MiB), attention's tiles and
// what Eigen packs of them, the parts of sums over rows, the heap's own bookkeeping.
constexpr std::int64_t kLibraryScratch = 16 << 20;

}  // namespace

TEST_CASE("resident memory grows by the ledger's peak") {
  const ModelSize size{.L = 4, .D = 256, .H = 8, .T = 256, .V = 256};
  const GlobalBatch batch = random_batch(size, 8, 1);
  const std::int64_t before = process_memory("VmRSS");
  const TestDevice test("cpu", DType::f32);
  Gpt model(test.device(), test.dtype, size, 1);
  const Parameters parameters = model.parameters();
  Optimizer optimizer(parameters, 0.1);
  std::int64_t faults = 0;
  for (int i = 0; i < 3; ++i) {
    faults = page_faults();
    loss_and_gradients(model, batch, test);
    optimizer.step(1e-3);
    for (Parameter* parameter : parameters) parameter->clear_gradient();
  }
  // The last step asked the system for nothing: one of its tensors has 512 pages.
  CHECK(page_faults() - faults < 64);
  const std::int64_t grown = process_memory("VmHWM") - before, ledger = test.memory.peak_bytes();
  CAPTURE(grown, ledger);
  REQUIRE(ledger > 150 << 20);
  CHECK(static_cast<double>(grown) > 0.9 * static_cast<double>(ledger) - kLibraryScratch);
  CHECK(static_cast<double>(grown) < 1.1 * static_cast<double>(ledger) + kLibraryScratch);
}
