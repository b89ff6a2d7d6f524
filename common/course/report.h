// What a run leaves behind: everything it measured, as data. The tables at the end of a run, the
// file report.json (schema 1), tests, slides and tools all read this one structure.
//
// Members are named as in the file. An optional one is null there while no instrument fills it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/model_size.h"
#include "course/setting.h"
#include "course/terminal.h"

namespace shardlings {

// A verdict on a budget row is "exact", "close" or the diagnosis of what is off; none where the row
// has no formula yet.
using RowVerdict = std::optional<std::string>;

struct MemoryRow {
  std::string name;
  std::optional<std::string> formula = {};
  std::optional<double> budget_bytes = {};
  std::int64_t peak_bytes = 0;                     // of this row alone
  std::optional<std::int64_t> at_peak_bytes = {};  // when the tier as a whole was at its peak
  RowVerdict verdict = {};
};

struct Owner {
  std::string owner;
  std::int64_t bytes = 0;
};

struct MemoryTier {
  std::string tier = "device";  // or "host"
  std::int64_t peak_bytes = 0;
  std::vector<MemoryRow> rows = {};
  std::vector<Owner> owners_at_peak = {};  // the largest first
};

struct CountRow {
  std::string name;
  std::string unit;
  std::optional<std::string> formula = {};
  std::optional<double> budget = {};
  double measured = 0;
  RowVerdict verdict = {};
};

struct Counts {
  std::vector<CountRow> rows = {};
};

struct TrafficRow {
  std::string axis, operation, what;
  std::optional<std::string> formula = {};
  std::optional<double> budget_bytes = {};
  std::int64_t calls = 0, messages = 0, payload_bytes = 0, sent_bytes = 0;
  std::string link = {};
  RowVerdict verdict = {};
};

struct TrafficReport {
  std::vector<TrafficRow> rows = {};  // per optimizer step
};

// Against the lesson that this one builds on: what it saves and what that costs.
struct Trade {
  std::string against;
  std::optional<std::int64_t> memory_bytes = {};
  std::optional<std::int64_t> sent_bytes = {};
  std::optional<double> flops = {};
  std::optional<double> exposed_ms = {};
  std::optional<double> bubble_ms = {};
};

// The modelled clock.
struct ClockReport {
  std::string cluster;
  double step_ms = 0, compute_ms = 0, exposed_communication_ms = 0, bubble_ms = 0, mfu = 0;
};

// Real time on this machine: shown, never checked.
struct Wall {
  double step_ms_median = 0;
  double tokens_per_second = 0;
};

struct CheckResult {
  std::string name;
  bool passed = false;
  double value = 0;
  double limit = 0;
};

struct ReportModel {
  ModelSize size = {};
  std::int64_t P = 0;  // parameters
};

struct Mesh {
  std::int64_t dp = 1, tp = 1, pp = 1, cp = 1, ep = 1;
};

enum class Ending { finished, stopped, broken };

struct Report {
  std::string lesson;  // its folder: "01_training_step"
  std::string backend = {};
  std::string launcher = "self";
  std::int64_t ranks = 1;
  std::string dtype = {};
  std::string policy = {};
  std::int64_t seed = 0;
  std::int64_t steps = 0;  // asked for; losses.size() is how many were done
  ReportModel model = {};
  Mesh mesh = {};
  Settings knobs = {};

  std::vector<double> losses = {};  // nats per token, one per step
  std::vector<double> gradient_norms = {};
  std::optional<double> entropy_floor = {};

  std::vector<std::vector<MemoryTier>> memory = {};  // [rank][tier]
  std::vector<Counts> counts = {};                   // [rank]
  std::vector<TrafficReport> traffic = {};           // [rank]
  std::optional<Trade> trade = {};
  std::optional<ClockReport> clock = {};
  std::optional<Wall> wall = {};
  std::vector<CheckResult> checks = {};
  Ending ending = Ending::finished;
};

// Passes when value <= limit; NaN fails.
void check_at_most(Report& report, std::string name, double value, double limit);

// How much is off: checks that failed, budget rows whose verdict is neither "exact" nor "close".
struct Misses {
  std::int64_t checks = 0;
  std::int64_t rows = 0;
};
Misses misses(const Report& report);

// What a run comes to, and nothing else decides it: "stopped" or "broken" when it ended early, else
// "failed" when a check failed or a budget row is off, else "passed".
std::string verdict(const Report& report);

// The code that belongs to the verdict: 75, 70, 1 or 0.
ExitCode exit_code(const Report& report);

// Schema 1. A loss that is not finite becomes null, and NaN when it is read back.
std::string report_to_json(const Report& report);

// Errors: Error(bad_data) that names the member.
Report report_from_json(std::string_view json);

// Writes directory/report.json, whole or not at all, and returns its path; makes the directory.
// Errors: Error(io) with the path and the reason; an earlier report is then unharmed.
std::filesystem::path write_report(const Report& report, const std::filesystem::path& directory);

// Errors: Error(no_input) when there is nothing to read, Error(bad_data) when it is no report.
Report read_report(const std::filesystem::path& path);

// The tables that end a run; of several ranks, those of rank 0.
std::string report_text(const Report& report, const TextStyle& style);

// The last line of a run, on its own:
// "lesson 01 training_step: all checks passed · report runs/01_training_step/report.json".
std::string summary_line(const Report& report, const std::filesystem::path& path,
                         const TextStyle& style);

}  // namespace shardlings
