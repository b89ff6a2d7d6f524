// Every call of a Communicator, against what a single process says that it should give.
#pragma once

#include "tests/common/comm_mpi/rank.h"

namespace shardlings {

// Errors: Error(check_failed) that names the call, the element, expected and got.
void check_collectives(Rank& rank);
void check_messages(Rank& rank);
void check_scalars(Rank& rank);
void check_groups(Rank& rank);
void check_orders_of_waiting(Rank& rank);

}  // namespace shardlings
