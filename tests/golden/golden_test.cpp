// Three steps in f64 with the course's own budget: what is counted is exact, losses agree to 1e-9,
// every budget row is exact, and the same checks pass. Slides and lesson texts take their numbers
// from the same files.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <sstream>

#include "course/report.h"
#include "tests/driver/shell.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

// How the golden run was started; ranks and cluster stand in its report.
std::string options_of(const Report& golden) {
  std::string options = " --dtype f64 --steps 3 --sample 0 --sheet solution";
  if (golden.ranks > 1)
    options += fmt::format(" --ranks {} --launcher {}", golden.ranks, golden.launcher);
  if (golden.clock) options += " --cluster " + golden.clock->cluster;
  return options;
}

// What is counted is a whole number.
void require_close(double got, double golden) {
  if (golden == std::floor(golden)) REQUIRE(got == golden);
  REQUIRE(std::abs(got - golden) <= 1e-9 * std::abs(golden));
}

void require_close(const std::vector<double>& got, const std::vector<double>& golden) {
  REQUIRE(got.size() == golden.size());
  for (std::size_t i = 0; i < got.size(); ++i) require_close(got[i], golden[i]);
}

// Takes what is counted without a formula out of a report: the held-out loss, and what a lesson
// adds.
std::vector<CountRow> take_unbudgeted(Report& report) {
  std::vector<CountRow> rows;
  for (Counts& counts : report.counts) {
    std::ranges::copy_if(counts.rows, std::back_inserter(rows),
                         [](const CountRow& row) { return !row.formula; });
    std::erase_if(counts.rows, [](const CountRow& row) { return !row.formula; });
  }
  return rows;
}

void require_close(const std::vector<CountRow>& got, const std::vector<CountRow>& golden) {
  REQUIRE(got.size() == golden.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(golden[i].name);
    REQUIRE(got[i].name == golden[i].name);
    REQUIRE(got[i].unit == golden[i].unit);
    require_close(got[i].measured, golden[i].measured);
  }
}

// What depends on the processor's rounding, or on the clock on the wall. Of a check, what it is
// called, its limit and its result are left.
Report without_floats(Report report) {
  report.losses.clear();
  report.gradient_norms.clear();
  for (CheckResult& check : report.checks) check.value = 0;
  report.wall.reset();
  return report;
}

template <class Row>
void require_exact(const std::vector<Row>& rows) {
  for (const Row& row : rows)
    if (row.formula) REQUIRE(row.verdict == "exact");
}

void require_golden(const std::string& lesson) {
  CAPTURE(lesson);
  Report golden = read_report(SOURCE_FOLDER "/tests/golden/" + lesson + ".json");
  const TemporaryFolder folder;
  const Outcome outcome = shell(PROGRAMS "/lesson_" + lesson.substr(0, 2) + options_of(golden) +
                                " --output " + folder.path().string());
  CAPTURE(outcome.output);
  REQUIRE(outcome.code == 0);
  Report got = read_report(folder.path() / "report.json");
  require_close(take_unbudgeted(got), take_unbudgeted(golden));
  REQUIRE(report_to_json(without_floats(got)) == report_to_json(without_floats(golden)));
  require_close(got.losses, golden.losses);
  require_close(got.gradient_norms, golden.gradient_norms);
  for (const auto& tiers : got.memory) require_exact(tiers.front().rows);
  for (const TrafficReport& traffic : got.traffic) require_exact(traffic.rows);
  for (const Counts& counts : got.counts) require_exact(counts.rows);
}

}  // namespace

TEST_CASE("reports equal the golden ones") {
  std::istringstream lessons(LESSONS);
  for (std::string lesson; lessons >> lesson;) require_golden(lesson);
}
