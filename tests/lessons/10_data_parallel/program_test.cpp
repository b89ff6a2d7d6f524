// What the text promises of the program: the sheet, lesson 04's losses on any number of ranks, and
// the bytes that MPI was really told to send.
#include "tests/support/mpi_program.h"

using namespace shardlings;

namespace {

const std::string kSmall = "--layers 2 --width 24 --heads 3 --context 33 --batch 7 ";

}  // namespace

TEST_CASE("every row of the sheet is exact in every configuration, on every rank") {
  const TemporaryFolder folder;
  const Outcome outcome =
      shell(LESSON_10 " --judge sheet --sheet solution --output " + folder.path().string());
  CAPTURE(outcome.output);
  CHECK(outcome.code == 0);
  CHECK(outcome.output.find("in 80 configurations") != std::string::npos);
}

TEST_CASE("the losses are those of lesson 04 on one device, on threads and over MPI") {
  const Report expected = run_alone(LESSON_04, kSmall + "--steps 3 --micro-batches 1");
  for (const int n : {1, 2, 3, 4}) {
    CAPTURE(n);
    require_equal_steps(
        run_alone(LESSON_10, kSmall + fmt::format("--steps 3 --ranks {} --micro-batches 2", n)),
        expected);
  }
  for (const int n : {2, 4}) {
    CAPTURE(n);
    require_equal_steps(
        run_under_mpi(LESSON_10, n, kSmall + "--dtype f64 --steps 3 --bucket 3000").report,
        expected);
  }
}

TEST_CASE("MPI was told to send what the report says") {
  const int n = GENERATE(2, 3, 4);
  require_mpi_saw_the_ledger(LESSON_10, n, kSmall + "--bucket 3000");
}

TEST_CASE("fewer sequences than ranks end the run with one line") {
  const TemporaryFolder folder;
  const Outcome outcome =
      shell(LESSON_10 " --ranks 3 --batch 2 --steps 1 --output " + folder.path().string());
  CAPTURE(outcome.output);
  CHECK(outcome.code == 64);
  CHECK(outcome.output.find("--batch 2: 3 ranks need at least one sequence each") !=
        std::string::npos);
}

TEST_CASE("a stop signal ends all ranks after the same step, with the report") {
  const TemporaryFolder folder;
  const Outcome outcome = shell(fmt::format(
      "cd {0}; timeout 60 {1} -n 3 env OMP_NUM_THREADS=1 {2} --launcher mpi --ranks 3 --layers 1 "
      "--width 8 --heads 1 --context 8 --batch 4 --steps 5000 --sample 0 --output . >out 2>&1 & "
      "for i in $(seq 400); do grep -q ' 500/5000' {0}/out && break; sleep 0.1; done; kill -TERM "
      "$(pgrep -P $! mpiexec); "
      "wait $!; echo code $?; cat {0}/out",
      folder.path().string(), MPIEXEC, LESSON_10));
  CAPTURE(outcome.output);
  CHECK(outcome.output.starts_with("code 75\n"));
  CHECK(outcome.output.find("stopped after ") != std::string::npos);
  const Report report = read_report(folder.path() / "report.json");
  CHECK(report.memory.size() == 3);
  CHECK(report.losses.size() >= 500);
  CHECK(report.losses.size() < 5000);
}

TEST_CASE("a rank that is killed ends the others, without a summary") {
  const TemporaryFolder folder;
  const Outcome outcome = shell(fmt::format(
      "SHARDLINGS_FAULT=crash:1:20 timeout 30 {} -n 3 env OMP_NUM_THREADS=1 {} --launcher mpi "
      "--ranks 3 {}--steps 1000 --sample 0 --output {}",
      MPIEXEC, LESSON_10, kSmall, folder.path().string()));
  CAPTURE(outcome.output);
  CHECK(outcome.code == 9);  // the signal's number: mpiexec's own way
  CHECK(outcome.output.find("lesson 10 data_parallel") == std::string::npos);
}

TEST_CASE("a rank whose numbers are not finite ends the run, and says so") {
  const TemporaryFolder folder;
  const Outcome outcome = shell(fmt::format(
      "SHARDLINGS_FAULT=nan:1:20 timeout 30 {} --ranks 3 {}--steps 1000 --sample 0 --output {}",
      LESSON_10, kSmall, folder.path().string()));
  CAPTURE(outcome.output);
  CHECK(outcome.code == 70);
  CHECK(outcome.output.find("the gradient norm nan") != std::string::npos);
}
