// report [--measured] FILE: the tables of a report.json, as the run that left it printed them; with
// --measured without the hand budget, which a lesson's text must not give away.
#include <algorithm>
#include <string_view>
#include <vector>

#include "course/report.h"
#include "course/terminal.h"

namespace shardlings {

namespace {

void drop_budget(Report& report) {
  const auto drop = [](auto& row) {
    row.formula.reset();
    row.verdict.reset();
  };
  for (std::vector<MemoryTier>& tiers : report.memory)
    for (MemoryTier& tier : tiers) std::ranges::for_each(tier.rows, drop);
  for (Counts& counts : report.counts) std::ranges::for_each(counts.rows, drop);
  for (TrafficReport& traffic : report.traffic) std::ranges::for_each(traffic.rows, drop);
}

}  // namespace

}  // namespace shardlings

int main(int count, char** words) {
  using namespace shardlings;
  try {
    const std::vector<std::string_view> arguments(words + 1, words + count);
    const bool measured = arguments.size() == 2 && arguments[0] == "--measured";
    if (arguments.size() != (measured ? 2u : 1u))
      fail(ExitCode::usage, "usage: report [--measured] FILE");
    const std::filesystem::path path = arguments.back();
    Report report = read_report(path);
    if (measured) drop_budget(report);
    const TextStyle style = style_of(stdout);
    write_text(stdout, report_text(report, style) + summary_line(report, path, style) + "\n");
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return static_cast<int>(error.code());
  }
}
