// mpiexec -n RANKS comm_mpi_program RANKS MODE: what the tests of MPI run.
//
//   calls    every call of a Communicator, compared with a single process
//   small    the same, where MPI counts to 1000 only
//   traffic  some traffic; SENT.RANK, of the variable SENT, says what the traffic ledger has of it
//   unbooked the same, with a message that is not in the ledger
//   and sick ones: mismatch, error, exit, vanish, quiet
#include <unistd.h>

#include <fstream>

#include "comm/mpi.h"
#include "tests/common/comm_mpi/calls.h"

using namespace shardlings;

namespace {

void check_calls(Rank& rank) {
  CHECK(rank.ranks_on_this_machine == rank.n && rank.rank_on_this_machine == rank.all.rank(),
        "rank {} of {} on this machine", rank.rank_on_this_machine, rank.ranks_on_this_machine);
  check_scalars(rank);
  check_collectives(rank);
  check_messages(rank);
  check_groups(rank);
  check_orders_of_waiting(rank);
}

// A line per group: its name, messages, bytes.
void write_ledger(const TrafficLedger& ledger, int rank) {
  std::map<std::string, TrafficCount> groups;
  for (const auto& [key, count] : ledger.total()) {
    groups[key.axis].messages += count.messages;
    groups[key.axis].sent_bytes += count.sent_bytes;
  }
  std::ofstream file(fmt::format("{}.{}", std::getenv("SENT"), rank));
  for (const auto& [axis, count] : groups)
    file << axis << ' ' << count.messages << ' ' << count.sent_bytes << '\n';
}

void send_past_the_ledger(Transport& transport) {
  const int n = transport.size(), r = transport.rank();
  const double sent = 1;
  double received = 0;
  const auto out = transport.start_send(&sent, sizeof sent, (r + 1) % n, Channel::payload, 0);
  const auto in =
      transport.start_receive(&received, sizeof received, (r + n - 1) % n, Channel::payload, 0);
  while (!transport.done(out)) {
  }
  while (!transport.done(in)) {
  }
}

[[noreturn]] void wait_for_ever(Rank& rank) {
  for (;;) rank.all.barrier();
}

void run(const std::string& mode, int ranks) {
  const MpiJob job(ranks, mode == "small" ? 1000 : 1 << 30);
  RankStart start = job.start();
  if (mode == "unbooked") send_past_the_ledger(*start.transport);
  Rank rank(std::move(start), 1.0);
  const int r = rank.all.rank();
  if (mode == "calls" || mode == "small") {
    check_calls(rank);
  } else if (mode == "traffic" || mode == "unbooked") {
    check_calls(rank);
    write_ledger(rank.traffic, r);
  } else if (mode == "mismatch") {
    rank.all.all_reduce(rank.zeros(r == 0 ? 4 : 5), "x");
  } else {
    rank.all.barrier();
    if (r == ranks - 1) {
      if (mode == "error") fail(ExitCode::bad_data, "no more data");
      if (mode == "exit") std::exit(0);
      if (mode == "vanish") _exit(0);
    }
    if (mode == "quiet" && r == 0) sleep(100);
    wait_for_ever(rank);
  }
  rank.all.barrier();
  if (r == 0) fmt::print("all is well\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print("{}\n", started_by_mpi_launcher() ? "a rank" : "alone");
    return 0;
  }
  try {
    run(argv[2], std::stoi(argv[1]));
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    abort_mpi(error.code());
  }
}
