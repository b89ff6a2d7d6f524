// Being asked to stop: the step in progress is finished, the report written, and the program ends
// with ExitCode::out_of_memory's number, 75. Whoever asks twice gets it at once.
#pragma once

namespace shardlings {

// From here on SIGINT, SIGTERM and SIGUSR1 ask this process to stop, and a second one, more than
// 200 ms later, ends it. Writing to a pipe that nobody reads, or beyond the file size limit, fails
// like any other write instead of killing the process.
void install_stop_handlers();

// Whether somebody asked. Safe to call from any thread; true for good.
bool stop_requested();

// Asks from inside the program, for instance when nobody reads its output any more.
void request_stop();

}  // namespace shardlings
