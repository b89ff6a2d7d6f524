#include "course/ranks.h"

namespace shardlings {

void run_ranks(const Options& options, const std::function<void(RankStart)>& body) {
  if (options.ranks == 1) return body(start_alone());
  const auto failure = run_as_threads(static_cast<int>(options.ranks), body);
  if (failure) throw *failure;
}

}  // namespace shardlings
