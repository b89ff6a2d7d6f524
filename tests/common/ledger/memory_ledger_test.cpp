#include "ledger/memory_ledger.h"

#include "tests/support/catch.h"

using namespace shardlings;
using Catch::Matchers::Contains;

namespace {

constexpr Category kParameters = Category::parameters, kGradients = Category::gradients,
                   kOptimizer = Category::optimizer, kActivations = Category::activations,
                   kCommunication = Category::communication, kWorkspace = Category::workspace;

// "wte parameters 100", largest first.
std::vector<std::string> text(const std::vector<OwnerBytes>& owners) {
  std::vector<std::string> lines;
  for (const OwnerBytes& o : owners)
    lines.push_back(fmt::format("{} {} {}", o.owner, name_of(o.category), o.bytes));
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("the categories have names") {
  CHECK(name_of(kParameters) == "parameters");
  CHECK(name_of(kGradients) == "gradients");
  CHECK(name_of(kOptimizer) == "optimizer");
  CHECK(name_of(kActivations) == "activations");
  CHECK(name_of(kCommunication) == "communication");
  CHECK(name_of(kWorkspace) == "workspace");
}

TEST_CASE("bytes are counted while they live, by category") {
  MemoryLedger ledger("device");
  CHECK(ledger.tier() == "device");
  const auto a = ledger.add(100, kParameters, "a");
  const auto b = ledger.add(30, kWorkspace, "b");
  const auto c = ledger.add(0, kGradients, "c");
  CHECK(ledger.now().total() == 130);
  CHECK(ledger.now()[kParameters] == 100);
  CHECK(ledger.now()[kWorkspace] == 30);
  CHECK(ledger.now().model_and_activations() == 100);
  ledger.remove(a);
  CHECK(ledger.now().total() == 30);
  ledger.remove(c);
  ledger.remove(b);
  CHECK(ledger.now().total() == 0);
  CHECK(ledger.peak_bytes() == 130);
}

TEST_CASE("model_and_activations is the first four categories") {
  MemoryUse use;
  std::int64_t bit = 1;
  for (std::int64_t& bytes : use.bytes) bytes = bit, bit *= 2;
  CHECK(use.total() == 63);
  CHECK(use.model_and_activations() == 15);
}

TEST_CASE("each category has a peak of its own, wherever it fell") {
  MemoryLedger ledger("device");
  const auto a = ledger.add(100, kActivations, "a");
  ledger.remove(a);
  ledger.add(40, kGradients, "g");
  ledger.add(50, kActivations, "b");
  CHECK(ledger.category_peaks()[kActivations] == 100);
  CHECK(ledger.category_peaks()[kGradients] == 40);
  CHECK(ledger.category_peaks().total() == 140);  // more than was ever alive at once
  CHECK(ledger.peak_bytes() == 100);
}

TEST_CASE("the snapshot is of the first instant of the peak, by category and by owner") {
  MemoryLedger ledger("device");
  ledger.add(10, kParameters, "wte");
  ledger.add(20, kParameters, "wte");
  const auto x = ledger.add(25, kActivations, "x");
  const auto y = ledger.add(25, kWorkspace, "y");  // 80: the peak
  ledger.remove(y);
  ledger.remove(x);
  ledger.add(50, kGradients, "g");  // 80 again, of other owners: not the first instant
  CHECK(ledger.peak_bytes() == 80);
  CHECK(ledger.at_peak().total() == 80);
  CHECK(ledger.at_peak()[kActivations] == 25);
  CHECK(ledger.at_peak()[kGradients] == 0);
  CHECK(text(ledger.owners_at_peak()) ==
        Lines{"wte parameters 30", "x activations 25", "y workspace 25"});
}

TEST_CASE("the snapshot is right whenever it is asked for") {
  MemoryLedger ledger("device");
  CHECK(ledger.at_peak().total() == 0);
  CHECK(ledger.owners_at_peak().empty());
  const auto x = ledger.add(10, kWorkspace, "x");
  CHECK(text(ledger.owners_at_peak()) == Lines{"x workspace 10"});  // at the peak itself
  const auto y = ledger.add(5, kWorkspace, "y");
  CHECK(ledger.at_peak().total() == 15);  // a new peak since
  ledger.remove(x);
  CHECK(ledger.at_peak().total() == 15);
  ledger.remove(y);
  ledger.add(15, kParameters, "z");  // equal, later
  CHECK(text(ledger.owners_at_peak()) == Lines{"x workspace 10", "y workspace 5"});
  ledger.add(1, kParameters, "w");
  CHECK(text(ledger.owners_at_peak()) == Lines{"z parameters 15", "w parameters 1"});
}

TEST_CASE("an owner's storages of two categories are two lines") {
  MemoryLedger ledger("device");
  ledger.add(10, kParameters, "block.0");
  ledger.add(20, kGradients, "block.0");
  ledger.add(3, kParameters, "block.0");
  CHECK(text(ledger.owners_at_peak()) == Lines{"block.0 gradients 20", "block.0 parameters 13"});
}

TEST_CASE("retagging moves bytes between categories and leaves the total") {
  MemoryLedger ledger("device");
  const auto x = ledger.add(100, kWorkspace, "x");
  ledger.add(1, kParameters, "w");
  ledger.retag(x, kActivations);
  CHECK(ledger.now()[kWorkspace] == 0);
  CHECK(ledger.now()[kActivations] == 100);
  CHECK(ledger.now().total() == 101);
  CHECK(ledger.category_peaks()[kActivations] == 100);
  // The total did not grow: the peak's first instant was before.
  CHECK(ledger.at_peak()[kWorkspace] == 100);
  CHECK(ledger.at_peak()[kActivations] == 0);
  ledger.retag(x, kWorkspace);
  CHECK(ledger.now()[kWorkspace] == 100);
  ledger.remove(x);
  CHECK(ledger.now().total() == 1);
}

TEST_CASE("the joint peak is where the model and its activations were largest together") {
  MemoryLedger ledger("device");
  ledger.add(100, kParameters, "w");
  const auto a = ledger.add(50, kActivations, "a");  // 150 together
  ledger.remove(a);
  ledger.add(40, kGradients, "g");                   // 140 together
  const auto s = ledger.add(1000, kWorkspace, "s");  // the total's peak, not the joint one
  CHECK(ledger.at_joint_peak().model_and_activations() == 150);
  CHECK(ledger.at_joint_peak()[kActivations] == 50);
  CHECK(ledger.at_joint_peak()[kGradients] == 0);
  CHECK(ledger.at_peak()[kWorkspace] == 1000);
  CHECK(ledger.at_peak()[kActivations] == 0);
  ledger.retag(s, kActivations);  // becomes part of it
  CHECK(ledger.at_joint_peak().model_and_activations() == 1140);
  CHECK(ledger.at_joint_peak()[kWorkspace] == 0);
  CHECK(ledger.peak_bytes() == 1140);
}

TEST_CASE("above the cap: exit code 75, a table of the largest owners, and nothing changed") {
  MemoryLedger ledger("device", 1000);
  for (int i = 0; i < 9; ++i) ledger.add(10 + i, kWorkspace, fmt::format("small.{}", i));
  ledger.add(800, kParameters, "wte");
  const MemoryUse before = ledger.now();
  try {
    ledger.add(75, kActivations, "scores");
    FAIL("the cap was not enforced");
  } catch (const OutOfMemory& error) {
    CHECK(error.code() == ExitCode::out_of_memory);
    CHECK(static_cast<int>(error.code()) == 75);
    CHECK_THAT(error.what(), Contains("device memory: scores asks for 75 B"));
    CHECK_THAT(error.what(), Contains("74 B of 1000 B are free"));
    CHECK(std::string(error.what()).find('\n') == std::string::npos);
    const std::string& table = error.table();
    for (const char* line : {"parameters", "800 B", "workspace", "126 B", "largest owners",
                             "wte (parameters)", "small.8 (workspace)", "small.2 (workspace)"})
      CHECK_THAT(table, Contains(line));
    CHECK_THAT(table, !Contains("small.1"));  // eight owners are enough
    CHECK(table.find("wte (parameters)") < table.find("small.8"));
  }
  CHECK(ledger.now().bytes == before.bytes);
  CHECK(ledger.peak_bytes() == 926);
  CHECK(ledger.category_peaks()[kActivations] == 0);
  CHECK(ledger.owners_at_peak().size() == 10);
  ledger.add(74, kActivations, "fits");  // to the last byte
  CHECK(ledger.now().total() == 1000);
  CHECK_THROWS_AS(ledger.add(1, kActivations, "one more"), OutOfMemory);
}

TEST_CASE("a request near the end of the numbers does not wrap around") {
  MemoryLedger ledger("host");
  ledger.add(1000, kWorkspace, "x");
  CHECK_THROWS_AS(ledger.add(INT64_MAX, kWorkspace, "y"), OutOfMemory);
  CHECK(ledger.now().total() == 1000);
}

TEST_CASE("wrong uses of a ledger are refused") {
  MemoryLedger ledger("host");
  const auto x = ledger.add(1, kWorkspace, "x");
  ledger.remove(x);
  CHECK_THROWS_WITH(ledger.remove(x), Contains("host ledger: entry 1 is not alive"));
  CHECK_THROWS_WITH(ledger.retag(x, kActivations), Contains("entry 1 is not alive"));
  CHECK_THROWS_WITH(ledger.add(-1, kWorkspace, "x"), Contains("x asks for -1 bytes"));
  CHECK_THROWS_WITH(MemoryLedger("device", -1), Contains("the memory cap is -1 bytes"));
}
