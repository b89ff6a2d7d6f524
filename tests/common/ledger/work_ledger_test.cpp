#include "ledger/work_ledger.h"

#include "tests/support/catch.h"

using namespace shardlings;

TEST_CASE("work adds up, and the difference of two readings is what lay between") {
  WorkLedger ledger;
  ledger.add({.model_flops = 10, .executed_flops = 7});
  const Work before = ledger.total();
  ledger.add({.model_flops = 5, .executed_flops = 20});
  ledger.add({});
  CHECK(ledger.total() == Work{.model_flops = 15, .executed_flops = 27});
  CHECK(ledger.total() - before == Work{.model_flops = 5, .executed_flops = 20});
}

TEST_CASE("recomputed work is executed, and no work of the model") {
  WorkLedger ledger;
  const Work product{.model_flops = 10, .executed_flops = 7};
  {
    const WorkLedger::Recomputation outer(ledger);
    ledger.add(product);
    { const WorkLedger::Recomputation inner(ledger); }
    ledger.add(product);
  }
  CHECK(ledger.total() == Work{.executed_flops = 14, .recomputed_flops = 14});
  ledger.add(product);
  CHECK(ledger.total() == Work{.model_flops = 10, .executed_flops = 21, .recomputed_flops = 14});
}
