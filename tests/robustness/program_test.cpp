#include "course/report.h"
#include "tests/driver/shell.h"
#include "tests/support/catch.h"

using namespace shardlings;
using Catch::Contains;

namespace {

const std::string kTiny = " --layers 1 --width 16 --heads 2 --context 8 --batch 2 --sample 0";

// A tiny run of lesson 01 that reports to `folder`; `prefix` is shell that comes before the
// program.
Outcome tiny(const TemporaryFolder& folder, const std::string& options,
             const std::string& prefix = "") {
  return shell(prefix + LESSON + kTiny + " --output " + folder.path().string() + "/out " + options);
}

Report report_in(const TemporaryFolder& folder) {
  return read_report(folder.path() / "out" / "report.json");
}

void require_one_line(const Outcome& outcome, int code, const std::string& part) {
  CAPTURE(outcome.output);
  REQUIRE(outcome.code == code);
  REQUIRE_THAT(outcome.output, Contains(part));
  REQUIRE(std::count(outcome.output.begin(), outcome.output.end(), '\n') == 1);
}

}  // namespace

TEST_CASE("a good run ends with 0 and the summary line") {
  const TemporaryFolder folder;
  const Outcome outcome = tiny(folder, "--steps 3");
  CAPTURE(outcome.output);
  REQUIRE(outcome.code == 0);
  REQUIRE_THAT(outcome.output, Contains("lesson 01 training_step: all checks passed"));
  REQUIRE(verdict(report_in(folder)) == "passed");
}

TEST_CASE("malformed options are refused before anything runs") {
  const TemporaryFolder folder;
  require_one_line(tiny(folder, "--steps 12abc"), 64, "--steps");
  require_one_line(tiny(folder, "--step 12"), 64, "did you mean --steps?");
  require_one_line(shell(LESSON " --width 130 --heads 4"), 64,
                   "width D = 130 is not divisible by heads H = 4");
  REQUIRE_FALSE(std::filesystem::exists(folder.path() / "out"));
}

TEST_CASE("a text that cannot be used is named with the reason") {
  const TemporaryFolder folder;
  const std::string path = folder.path();
  write_file(path + "/empty", "");
  write_file(path + "/short", "only a few bytes");
  require_one_line(tiny(folder, "--text " + path + "/none"), 66, path + "/none");
  require_one_line(tiny(folder, "--text " + path), 66, "directory");
  require_one_line(tiny(folder, "--text " + path + "/empty"), 65, "empty");
  require_one_line(tiny(folder, "--text " + path + "/short"), 65, "16 bytes");
}

TEST_CASE("binary text is accepted and sampled readably") {
  const TemporaryFolder folder;
  std::string bytes;
  for (int i = 0; i < 4096; ++i) bytes += static_cast<char>(i * 37 % 256);
  write_file(folder.path() / "binary", bytes);
  const Outcome outcome =
      shell(LESSON
            " --layers 1 --width 16 --heads 2 --context 8 --batch 2 "
            "--steps 2 --sample 50 --output " +
            folder.path().string() + "/out --text " + folder.path().string() + "/binary");
  CAPTURE(outcome.output);
  REQUIRE(outcome.code == 0);
  REQUIRE_THAT(outcome.output, Contains("\\x"));
}

TEST_CASE("above the memory cap a run ends with the table of what was alive") {
  const TemporaryFolder folder;
  const Outcome outcome = tiny(folder, "--steps 3 --device-memory 40KiB");
  CAPTURE(outcome.output);
  REQUIRE(outcome.code == 75);
  REQUIRE_THAT(outcome.output, Contains("out of device memory") && Contains("of 40.0 KiB") &&
                                   Contains("parameters") && Contains("largest owners"));
}

TEST_CASE("a loss that is not a number ends training, names the step, and is reported") {
  const TemporaryFolder folder;
  const Outcome outcome = tiny(folder,
                               "--steps 50 --learning-rate 100 --warmup 0 --clip 0 "
                               "--weight-decay 100");
  CAPTURE(outcome.output);
  REQUIRE(outcome.code == 70);
  REQUIRE_THAT(outcome.output, Contains("error: step ") && Contains("nan"));
  REQUIRE(verdict(report_in(folder)) == "broken");
}

TEST_CASE("asked to stop, a run finishes its step and reports") {
  const TemporaryFolder folder;
  const std::string log = folder.path() / "log";
  for (const std::string signal : {"INT", "TERM"}) {
    // A shell starts background programs with SIGINT ignored; env puts it back.
    const Outcome outcome = tiny(folder,
                                 "--steps 1000000 >" + log + " 2>&1 & until grep -qs step " + log +
                                     "; do sleep 0.05; done; kill -" + signal + " $!; wait $!",
                                 "env --default-signal=INT ");
    CAPTURE(signal, read_file(log));
    REQUIRE(outcome.code == 75);
    REQUIRE_THAT(read_file(log), Contains("asked to stop"));
    REQUIRE(verdict(report_in(folder)) == "stopped");
    std::filesystem::remove(log);
  }
}

TEST_CASE("a full disk loses nothing that was there") {
  const TemporaryFolder folder;
  REQUIRE(tiny(folder, "--steps 2").code == 0);
  const std::string before = read_file(folder.path() / "out" / "report.json");
  const Outcome outcome = tiny(folder, "--steps 3", "ulimit -f 0; ");
  CAPTURE(outcome.output);
  REQUIRE(outcome.code == 74);
  REQUIRE_THAT(outcome.output, Contains("report.json"));
  REQUIRE(read_file(folder.path() / "out" / "report.json") == before);
}

TEST_CASE("an output that cannot be a directory is refused before the training") {
  const TemporaryFolder folder;
  write_file(folder.path() / "out", "a file");
  require_one_line(tiny(folder, "--steps 1000000"), 74, "out");
}

TEST_CASE("a backend that is not there is said, with what runs instead") {
  const TemporaryFolder folder;
  require_one_line(tiny(folder, "--backend cuda"), 69, "--backend cpu");
}

TEST_CASE("the guarded device trains to the same losses") {
  const TemporaryFolder cpu, guarded;
  REQUIRE(tiny(cpu, "--steps 3").code == 0);
  REQUIRE(tiny(guarded, "--steps 3 --backend guarded").code == 0);
  REQUIRE(report_in(cpu).losses == report_in(guarded).losses);
}

TEST_CASE("a resumed run goes on to the last bit") {
  const TemporaryFolder whole, parts;
  const std::string states = parts.path().string() + "/states";
  REQUIRE(tiny(whole, "--steps 8 --export " + whole.path().string() + "/gpt2").code == 0);
  // The same run, stopped by the time limit after its first step; then resumed twice.
  REQUIRE(tiny(parts, "--steps 8 --time-limit 0.000001 --save " + states).code == 0);
  REQUIRE(report_in(parts).losses.size() == 1);
  const std::string again = " --save " + states + " --resume " + states;
  REQUIRE(tiny(parts, "--steps 8 --time-limit 0.000001" + again).code == 0);
  const Outcome last =
      tiny(parts, "--steps 8 --resume " + states + " --export " + parts.path().string() + "/gpt2");
  CAPTURE(last.output);
  REQUIRE(last.code == 0);
  REQUIRE_THAT(last.output, Contains("step_000002.safetensors, 2 steps done"));
  const std::vector<double> all = report_in(whole).losses, end = report_in(parts).losses;
  REQUIRE(end == std::vector<double>(all.begin() + 2, all.end()));
  const std::string weights = "/gpt2/model.safetensors";
  REQUIRE(read_file(whole.path().string() + weights) == read_file(parts.path().string() + weights));
}

TEST_CASE("a state of another run, or of nothing, is refused") {
  const TemporaryFolder folder;
  const std::string states = folder.path().string() + "/states";
  require_one_line(tiny(folder, "--steps 3 --resume " + states), 66, "states");
  REQUIRE(tiny(folder, "--steps 3 --time-limit 0.000001 --save " + states).code == 0);
  require_one_line(tiny(folder, "--steps 3 --seed 2 --resume " + states), 65, "seed");
  require_one_line(tiny(folder, "--steps 1 --resume " + states), 65, "steps");
}

TEST_CASE("an exported model is the model") {
  const TemporaryFolder first, second;
  const std::string model = first.path().string() + "/gpt2";
  // A learning rate of 0 leaves the weights as they were when the model was imported.
  REQUIRE(tiny(first, "--steps 1 --learning-rate 0 --export " + model).code == 0);
  REQUIRE(tiny(second, "--steps 1 --learning-rate 0 --seed 7 --init " + model).code == 0);
  REQUIRE(tiny(second, "--steps 1 --learning-rate 0 --init " + model).code == 0);
  REQUIRE(report_in(first).losses == report_in(second).losses);
  const Outcome other = shell(LESSON
                              " --layers 2 --width 16 --heads 2 --context 8 --steps 1 "
                              "--output " +
                              second.path().string() + "/out --init " + model);
  CAPTURE(other.output);
  REQUIRE(other.code == 65);
}
