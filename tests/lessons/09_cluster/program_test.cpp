// What the text promises of the program.
#include "tests/support/mpi_program.h"

using namespace shardlings;

namespace {

struct Ran {
  Outcome outcome;
  Report report;
};

Ran run(const std::string& options, const std::string& start = "") {
  const TemporaryFolder folder;
  Ran ran{shell(start + LESSON_09 " --sheet solution --elements 12000 --output " +
                folder.path().string() + " " + options),
          {}};
  const std::filesystem::path report = folder.path() / "report.json";
  if (std::filesystem::exists(report)) ran.report = read_report(report);
  return ran;
}

double count(const Report& report, std::size_t rank, const std::string& name) {
  for (const CountRow& row : report.counts.at(rank).rows)
    if (row.name == name) return row.measured;
  return -1;
}

void require_refused(const std::string& options, const std::string& words) {
  const Ran ran = run(options);
  CAPTURE(ran.outcome.output);
  CHECK(ran.outcome.code == 64);
  CHECK(ran.outcome.output.find(words) != std::string::npos);
}

}  // namespace

TEST_CASE("every row of the sheet is exact in every configuration") {
  const Ran ran = run("--judge sheet");
  CAPTURE(ran.outcome.output);
  CHECK(ran.outcome.code == 0);
  CHECK(ran.outcome.output.find("in 160 configurations") != std::string::npos);
}

TEST_CASE("processes of mpiexec send what threads do, and take as long on the clock") {
  for (const std::string algorithm : {"ring --order far", "two_level"}) {
    const Ran threads = run("--ranks 4 --algorithm " + algorithm);
    const Ran processes =
        run("--ranks 4 --launcher mpi --algorithm " + algorithm, "timeout 60 " MPIEXEC " -n 4 ");
    CAPTURE(threads.outcome.output, processes.outcome.output);
    REQUIRE(threads.outcome.code == 0);
    REQUIRE(processes.outcome.code == 0);
    for (std::size_t rank = 0; rank < 4; ++rank)
      for (const std::string name : {"bytes inside nodes", "bytes between nodes",
                                     "messages of a rank", "all-reduce on the clock"})
        CHECK(count(processes.report, rank, name) == count(threads.report, rank, name));
  }
}

TEST_CASE("the links of this machine, measured by one run, are the cluster of another") {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "mine.toml").string();
  Ran fitted = run("--fit " + file);
  // On a machine that is busy with something else, small messages can be the slow ones.
  for (int again = 0; again < 5 && fitted.outcome.code != 0; ++again) fitted = run("--fit " + file);
  CAPTURE(fitted.outcome.output);
  REQUIRE(fitted.outcome.code == 0);
  const Ran ran = run("--algorithm two_level --cluster " + file);
  CAPTURE(ran.outcome.output);
  REQUIRE(ran.outcome.code == 0);
  CHECK(ran.report.clock.value().cluster == "fitted");
  CHECK(ran.report.clock.value().step_ms > 0);
}

TEST_CASE("what cannot be run is refused with one line") {
  require_refused("--ranks 3", "--chips-per-node: 3 ranks do not fill nodes of 2");
  require_refused("--cluster laptop", "--cluster: laptop has one class of links, ethernet");
  require_refused("--ranks 1 --fit x.toml", "--fit: a ping-pong takes two ranks at least");
}

TEST_CASE("a sick program fails its own checks, or its sheet") {
  const TemporaryFolder folder;
  const Outcome outcome = shell(SICK
                                " --sheet solution --elements 12000 --algorithm two_level "
                                "--output " +
                                folder.path().string());
  CAPTURE(outcome.output);
  CHECK(outcome.code == 1);
  CHECK(outcome.output.find("sums equal those of one device") != std::string::npos);
}

TEST_CASE("MPI was told to send what the report says, in every group") {
  const std::string options = GENERATE("--order far", "--algorithm two_level");
  CAPTURE(options);
  require_mpi_saw_the_ledger(LESSON_09, 4, "--elements 12001 " + options);
}
