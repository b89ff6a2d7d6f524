#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/atomic_file.h"
#include "base/check.h"
#include "configured.h"
#include "tools/driver/build.h"
#include "tools/driver/command.h"

namespace shardlings {

namespace {

namespace fs = std::filesystem;

struct Run {
  const char *name, *dtype;
  bool all_cores;
};
constexpr Run kSteps[] = {{"A", "f32", false},     {"A", "f32", true},     {"A", "f64", true},
                          {"micro", "f32", false}, {"micro", "f32", true}, {"gpt2", "f32", false},
                          {"gpt2", "f32", true}};
constexpr Run kPeerSteps[] = {{"A", "f32", false}, {"A", "f32", true}, {"gpt2", "f32", true}};

std::string program(const std::string& name) {
  build_target(name, name);
  return fmt::format("{}/bin/{}", kBuildFolder, name);
}

void must_run(CommandLine command, const CommandLine& options) {
  command.insert(command.end(), options.begin(), options.end());
  if (const int status = run(command); status != 0)
    fail(ExitCode::broken, "{} ended with {}", command[0], status);
}

void measure_runs(const CommandLine& command, std::span<const Run> runs, const std::string& file) {
  const unsigned cores = std::thread::hardware_concurrency();
  for (const Run& r : runs) {
    const unsigned threads = r.all_cores ? cores : 1;
    must_run(command,
             {r.name, "--dtype", r.dtype, "--threads", std::to_string(threads), "--record", file});
  }
}

void measure_steps(const std::string& file) {
  must_run({program("bench_limits")}, {file});
  measure_runs({program("bench_step")}, kSteps, file);
}

void measure_peers(const std::string& file) {
  measure_runs({"/usr/bin/python3", "-B", fmt::format("{}/bench/peers/compare.py", kSourceFolder),
                program("bench_step")},
               kPeerSteps, file);
}

void measure_ops(const std::string& file) {
  // Google Benchmark may have come after this build folder.
  run_quietly({"cmake", kBuildFolder}, "configuring", "configure");
  must_run({program("bench_ops")}, {"--benchmark_out=" + file, "--benchmark_out_format=json"});
  // Where on this machine it ran, and the machine's name, are nobody's business.
  nlohmann::ordered_json results = nlohmann::ordered_json::parse(std::ifstream(file));
  for (const char* name : {"executable", "host_name"}) results["context"].erase(name);
  write_file_atomically(file, results.dump(2) + "\n");
}

void measure_comm(const std::string& file) {
  for (const char* ranks : {"2", "4", "8"})
    must_run({"mpiexec", "-n", ranks, program("bench_comm"), ranks}, {file});
}

struct Kind {
  std::string_view name;  // the first argument
  const char* file;       // added to the name under which results are saved
  void (*measure)(const std::string& file);
};
constexpr Kind kKinds[] = {{"steps", "steps.jsonl", measure_steps},
                           {"ops", "ops.json", measure_ops},
                           {"comm", "comm.jsonl", measure_comm},
                           {"peers", "peers.jsonl", measure_peers}};

const Kind& kind_named(std::string_view name) {
  for (const Kind& kind : kKinds)
    if (kind.name == name) return kind;
  fail(ExitCode::usage, "bench measures steps, ops, comm or peers, not \"{}\"", name);
}

}  // namespace

// bench [steps|ops|comm|peers] [--save NAME]
int run_benchmarks(Arguments arguments) {
  const bool is_named = !arguments.empty() && !arguments[0].starts_with("--");
  const Kind& kind = kind_named(is_named ? arguments[0] : "steps");
  if (is_named) arguments = arguments.subspan(1);
  const bool saves = arguments.size() == 2 && arguments[0] == "--save";
  if (!arguments.empty() && !saves)
    fail(ExitCode::usage, "bench takes --save NAME, got \"{}\"", arguments[0]);

  setenv("GOMP_SPINCOUNT", "20000", 0);  // as lessons run
  const fs::path results = fs::path(kSourceFolder) / "bench/results";
  const fs::path folder = saves ? results : fs::path(kBuildFolder) / "bench";
  make_directory(folder);
  const std::string file = folder / fmt::format("{}.{}", saves ? arguments[1] : "last", kind.file);
  const std::string table = program("bench_table");
  fs::remove(file);
  kind.measure(file);
  if (saves) must_run({table}, {"--readme", results});
  return run({table, file});
}

}  // namespace shardlings
