// Ranks as processes that mpiexec or srun has started. <mpi.h> stays in mpi.cpp.
//
// A group has two MPI communicators: one named after its axis ("dp"), on which payload travels and
// nothing else, so that whoever listens to MPI counts what the traffic ledger counts; the other
// ("dp.control") for records. Training never makes a blocking MPI call.
//
// With SHARDLINGS_SYNCHRONOUS_SENDS=1 in the environment, no message leaves before its receiver
// has come: what relies on MPI to buffer small messages hangs then, as it would with large ones.
#pragma once

#include "base/check.h"
#include "comm/threads.h"

namespace shardlings {

// Whether this process is one of those that a launcher of MPI jobs has started. Touches no MPI:
// a program that was started by itself needs none, not even one that works.
bool started_by_mpi_launcher();

// This process's part in a job, from MPI_Init to MPI_Finalize; one per process. What start() gave
// ends before it does.
class MpiJob {
 public:
  // `largest_count`: the most that MPI is told to count; beyond it, bytes travel as one element of
  // a type of that length.
  // Errors: Error(unavailable) when the job has not as many ranks as expected; Error(io).
  explicit MpiJob(int expected_ranks, int largest_count = 1 << 30);
  // Waits until all ranks have come this far; not so while an exception is on its way, which has to
  // end in abort_mpi().
  ~MpiJob();
  MpiJob(const MpiJob&) = delete;
  MpiJob& operator=(const MpiJob&) = delete;

  int rank() const { return rank_; }
  // Once. The group is called "all".
  RankStart start() const;

 private:
  int rank_ = 0, ranks_ = 1, largest_count_;
};

// Ends this rank and all others with `code`, also when the job did not get as far as MPI.
[[noreturn]] void abort_mpi(ExitCode code);

}  // namespace shardlings
