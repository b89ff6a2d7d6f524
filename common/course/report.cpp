#include "course/report.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <system_error>

#include "base/atomic_file.h"

namespace shardlings {

namespace {

template <class Rows>
std::int64_t rows_off(const Rows& rows) {
  return std::ranges::count_if(rows, [](const auto& row) {
    return row.verdict && *row.verdict != "exact" && *row.verdict != "close";
  });
}

}  // namespace

void check_at_most(Report& report, std::string name, double value, double limit) {
  report.checks.push_back(
      {.name = std::move(name), .passed = value <= limit, .value = value, .limit = limit});
}

Misses misses(const Report& report) {
  Misses off;
  for (const CheckResult& check : report.checks) off.checks += !check.passed;
  for (const auto& tiers : report.memory)
    for (const MemoryTier& tier : tiers) off.rows += rows_off(tier.rows);
  for (const Counts& counts : report.counts) off.rows += rows_off(counts.rows);
  for (const TrafficReport& traffic : report.traffic) off.rows += rows_off(traffic.rows);
  return off;
}

std::string verdict(const Report& report) {
  if (report.ending == Ending::stopped) return "stopped";
  if (report.ending == Ending::broken) return "broken";
  const Misses off = misses(report);
  return off.checks + off.rows > 0 ? "failed" : "passed";
}

ExitCode exit_code(const Report& report) {
  if (report.ending == Ending::stopped) return ExitCode::out_of_memory;  // the same number
  if (report.ending == Ending::broken) return ExitCode::broken;
  return verdict(report) == "passed" ? ExitCode::ok : ExitCode::check_failed;
}

std::filesystem::path write_report(const Report& report, const std::filesystem::path& directory) {
  make_directory(directory);
  const std::filesystem::path path = directory / "report.json";
  write_file_atomically(path, report_to_json(report));
  return path;
}

Report read_report(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf()))
    fail(ExitCode::no_input, "cannot read the report {}", path.string());
  return report_from_json(text.str());
}

}  // namespace shardlings
