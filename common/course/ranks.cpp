#include "course/ranks.h"

#include "comm/mpi.h"

namespace shardlings {

namespace {

void run_as_process(int ranks, const std::function<void(RankStart)>& body) {
  if (!started_by_mpi_launcher())
    fail(ExitCode::usage,
         "--launcher mpi: this program was started by itself; mpiexec -n {} starts all ranks, and "
         "./shardlings run NN -n {} does that for you",
         ranks, ranks);
  const MpiJob job(ranks);
  try {
    body(job.start());
  } catch (...) {
    throw RankFailure{job.rank(), std::current_exception()};
  }
}

}  // namespace

void run_ranks(const Options& options, const std::function<void(RankStart)>& body) {
  const int ranks = static_cast<int>(options.ranks);
  if (options.launcher == "mpi") return run_as_process(ranks, body);
  if (started_by_mpi_launcher())
    fail(ExitCode::usage,
         "--launcher: mpiexec or srun started this program; add --launcher mpi and --ranks with "
         "their number, or start it without them");
  if (ranks == 1) return body(start_alone());
  if (const auto failure = run_as_threads(ranks, body)) throw *failure;
}

}  // namespace shardlings
