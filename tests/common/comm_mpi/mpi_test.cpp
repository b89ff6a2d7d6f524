// Ranks as processes. Each case starts mpiexec, which ends all ranks when one of them fails; a job
// that hangs is ended by `timeout`, with 124.
#include <fmt/core.h>

#include "tests/driver/shell.h"
#include "tests/support/catch.h"
#include "tests/support/pmpi_counter.h"

using namespace shardlings;
using Catch::Matchers::Contains;

namespace {

Outcome mpi(int ranks, const std::string& mode, const std::string& environment = "") {
  const std::string n = std::to_string(ranks);
  return shell("timeout 20 " MPIEXEC " -n " + n + " env OMP_NUM_THREADS=1 " + environment +
               " " PROGRAM " " + n + " " + mode);
}

bool is_well(const Outcome& outcome) {
  return outcome.code == 0 && outcome.output == "all is well\n";
}

// Of every rank: what its ledger says, and what MPI was told.
struct Sent {
  std::map<std::string, SentOverMpi> booked, over_mpi;
};

std::vector<Sent> traffic(int ranks, const std::string& mode, const std::string& environment = "") {
  const TemporaryFolder folder;
  const std::string booked = folder.path() / "booked", over_mpi = folder.path() / "mpi";
  const Outcome outcome = mpi(
      ranks, mode,
      "LD_PRELOAD=" COUNTER " SENT=" + booked + " SENT_OVER_MPI=" + over_mpi + " " + environment);
  INFO(outcome.output);
  REQUIRE(is_well(outcome));
  std::vector<Sent> all;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto of_rank = [&](const std::string& file) { return fmt::format("{}.{}", file, rank); };
    all.push_back({read_sent(of_rank(booked)), read_sent(of_rank(over_mpi))});
    REQUIRE_FALSE(all.back().booked.empty());
    const bool waits = environment.find("SYNCHRONOUS") != environment.npos;
    const std::string calls = read_file(of_rank(over_mpi));
    REQUIRE((calls.find(" Issend\n") != calls.npos) == waits);
    REQUIRE((calls.find(" Isend\n") != calls.npos) != waits);
  }
  return all;
}

}  // namespace

TEST_CASE("every call over MPI gives what a single process computes") {
  const int ranks = GENERATE(1, 2, 3, 4);
  CAPTURE(ranks);
  for (const char* mode : {"calls", "small"}) {
    const Outcome outcome = mpi(ranks, mode);
    CAPTURE(mode, outcome.output);
    REQUIRE(is_well(outcome));
  }
}

TEST_CASE("what MPI was told to send is what the traffic ledger has") {
  const int ranks = GENERATE(2, 3, 4);
  CAPTURE(ranks);
  for (const auto& [booked, over_mpi] : traffic(ranks, "traffic")) REQUIRE(booked == over_mpi);
  for (const auto& [booked, over_mpi] : traffic(ranks, "traffic", "SHARDLINGS_SYNCHRONOUS_SENDS=1"))
    REQUIRE(booked == over_mpi);
}

TEST_CASE("a message that the ledger does not have is seen") {
  for (auto& [booked, over_mpi] : traffic(2, "unbooked")) {
    REQUIRE(booked != over_mpi);
    booked["all"].messages += 1;
    booked["all"].bytes += 8;
    REQUIRE(booked == over_mpi);
  }
}

TEST_CASE("a rank that goes wrong ends the whole job, with its message and its code") {
  const int ranks = GENERATE(2, 3, 4);
  struct Sick {
    std::string mode, environment;
    int code;
    std::string message;
  };
  const std::string last = std::to_string(ranks - 1);
  const Sick cases[] = {
      {"mismatch", "", 70, "error: all: this rank called operation 0: all_reduce of "},
      {"error", "", 65, "error: no more data\n"},
      {"exit", "", 70, "rank " + last + ": left before the job was done\n"},
      {"calls", "SHARDLINGS_FAULT=crash:" + last + ":7", 9, ""},
      {"calls", "SHARDLINGS_FAULT=stall:" + last + ":7", 86, "error: no rank has got on for 1 s; "},
      {"calls", "SHARDLINGS_FAULT=skip:" + last + ":7", 70, "error: all: this rank called "},
      {"quiet", "", 86, "error: no rank has got on for 1 s; "},
  };
  for (const Sick& sick : cases) {
    const Outcome outcome = mpi(ranks, sick.mode, sick.environment);
    CAPTURE(ranks, sick.mode, sick.environment, outcome.output);
    REQUIRE(outcome.code == sick.code);
    REQUIRE_THAT(outcome.output, Contains(sick.message));
    REQUIRE_THAT(outcome.output, !Contains("all is well"));
    if (sick.code != 86) continue;
    for (int rank = 0; rank < ranks; ++rank)
      REQUIRE_THAT(outcome.output, Contains(fmt::format("  rank {}: all ", rank)));
  }
}

// Its exit code is mpiexec's own affair then.
TEST_CASE("a rank that vanishes ends the job, without the words of success") {
  const Outcome outcome = mpi(3, "vanish");
  REQUIRE(outcome.code != 124);
  REQUIRE_THAT(outcome.output, !Contains("all is well"));
}

TEST_CASE("another number of ranks than expected is refused") {
  const std::string program = " env OMP_NUM_THREADS=1 " PROGRAM " 3 calls";
  const Outcome fewer = shell("timeout 20 " MPIEXEC " -n 2" + program);
  REQUIRE(fewer.code == 69);
  REQUIRE_THAT(fewer.output,
               Contains("error: 3 ranks are wanted, but 2 were started; mpiexec -n 3 starts them"));
  const Outcome alone = shell("timeout 20" + program);
  REQUIRE(alone.code == 69);
  REQUIRE_THAT(alone.output, Contains("error: 3 ranks are wanted, but MPI says that this one is "
                                      "alone") &&
                                 Contains("--launcher threads"));
}

TEST_CASE("a rank of a launcher knows that it is one") {
  REQUIRE(shell(PROGRAM).output == "alone\n");
  REQUIRE(shell("SLURM_PROCID=0 " PROGRAM).output == "alone\n");
  REQUIRE(shell("PMIX_RANK=0 " PROGRAM).output == "a rank\n");
  REQUIRE(shell(MPIEXEC " -n 2 " PROGRAM).output == "a rank\na rank\n");
}
