// Ranks as threads, for tests: each with a World of its own.
#pragma once

#include <functional>

#include "course/world.h"

namespace shardlings {

// Options of a small world: one kernel thread.
inline Options small_world(std::string backend = "cpu", std::string cluster = {}) {
  Options options;
  options.threads = 1;
  options.backend = std::move(backend);
  options.cluster = std::move(cluster);
  return options;
}

// What a body checks on ranks: Catch2's own assertions are not made for threads.
template <class... Args>
void require(bool holds, fmt::format_string<Args...> what, Args&&... args) {
  if (!holds) fail(ExitCode::check_failed, what, std::forward<Args>(args)...);
}

// Calls body on every rank of the grid and rethrows what the first failing rank threw.
inline void on_ranks(const ProcessGrid& grid, const Options& options,
                     const std::function<void(World&)>& body) {
  const auto failure = run_as_threads(static_cast<int>(grid.size()), [&](RankStart start) {
    World world(options, std::move(start), grid);
    body(world);
  });
  if (failure) std::rethrow_exception(failure->error);
}

// All on the dp axis.
inline void on_ranks(int n, const Options& options, const std::function<void(World&)>& body) {
  on_ranks(ProcessGrid({n, 1, 1, 1}), options, body);
}

}  // namespace shardlings
