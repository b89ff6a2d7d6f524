#include "course/frame.h"

#include <cstdio>
#include <exception>
#include <new>
#include <system_error>

#include "comm/mpi.h"
#include "comm/threads.h"
#include "course/stop.h"
#include "course/terminal.h"
#include "ledger/memory_ledger.h"

namespace shardlings {

Failure current_failure(int rank, int ranks) {
  const std::string who = ranks > 1 ? fmt::format("rank {}: ", rank) : "error: ";
  try {
    throw;
  } catch (const OutOfMemory& error) {
    return {error.code(), who + error.what(), error.table()};
  } catch (const Error& error) {
    return {error.code(), who + error.what()};
  } catch (const std::bad_alloc&) {
    return {ExitCode::out_of_memory,
            who + "the memory of this machine is used up; a smaller --model or --batch needs less"};
  } catch (const std::system_error& error) {
    return {ExitCode::io, who + error.what()};
  } catch (const std::exception& error) {
    return {ExitCode::broken, who + error.what()};
  }
}

namespace {

int say(const Failure& failure) {
  std::fflush(stdout);
  std::fputs((failure.line + '\n' + failure.details).c_str(), stderr);
  // The other ranks wait for this one, and would for ever.
  if (started_by_mpi_launcher()) abort_mpi(failure.code);
  return static_cast<int>(failure.code);
}

}  // namespace

int run_main(int argc, const char* const* argv, const LessonCard& card, const LessonMain& lesson) {
  install_stop_handlers();
  int ranks = 1;
  try {
    const Options options = parse_options(card, {argv + 1, argv + argc});
    ranks = static_cast<int>(options.ranks);
    if (options.help) {
      write_text(stdout, help_text(card));
      return static_cast<int>(ExitCode::ok);
    }
    const ExitCode code = lesson(options);
    write_text(stdout, "");  // the last words count too: a full disk is an error
    return static_cast<int>(code);
  } catch (const RankFailure& failed) {
    try {
      std::rethrow_exception(failed.error);
    } catch (...) {
      return say(current_failure(failed.rank, ranks));
    }
  } catch (...) {
    return say(current_failure());
  }
}

}  // namespace shardlings
