// Three steps in f64 with the course's own budget: what is counted is exact, losses agree to 1e-9, and every
// budget row is exact. Slides and lesson texts take their numbers from the same files.
#include <cmath>
#include <sstream>

#include "course/report.h"
#include "tests/driver/shell.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

const std::string kOptions = " --dtype f64 --steps 3 --sample 0 --sheet solution";

void require_close(const std::vector<double>& got, const std::vector<double>& golden) {
  REQUIRE(got.size() == golden.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    REQUIRE(std::abs(got[i] - golden[i]) <= 1e-9 * std::abs(golden[i]));
}

// What depends on the processor's rounding, or on the clock on the wall.
Report without_floats(Report report) {
  report.losses.clear();
  report.gradient_norms.clear();
  report.checks.clear();
  report.wall.reset();
  for (Counts& counts : report.counts)
    std::erase_if(counts.rows, [](const CountRow& row) { return !row.formula; });
  return report;
}

void require_golden(const std::string& lesson) {
  CAPTURE(lesson);
  const TemporaryFolder folder;
  const Outcome outcome = shell(PROGRAMS "/lesson_" + lesson.substr(0, 2) + kOptions +
                                " --output " + folder.path().string());
  CAPTURE(outcome.output);
  REQUIRE(outcome.code == 0);
  const Report got = read_report(folder.path() / "report.json");
  const Report golden = read_report(SOURCE_FOLDER "/tests/golden/" + lesson + ".json");
  REQUIRE(report_to_json(without_floats(got)) == report_to_json(without_floats(golden)));
  require_close(got.losses, golden.losses);
  require_close(got.gradient_norms, golden.gradient_norms);
  for (const MemoryRow& row : got.memory[0][0].rows)
    if (row.formula) REQUIRE(row.verdict == "exact");
  for (const CountRow& row : got.counts[0].rows)
    if (row.formula) REQUIRE(row.verdict == "exact");
}

}  // namespace

TEST_CASE("reports equal the golden ones") {
  std::istringstream lessons(LESSONS);
  for (std::string lesson; lessons >> lesson;) require_golden(lesson);
}
