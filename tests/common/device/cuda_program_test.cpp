// A lesson with the CUDA device in it: where there is a GPU it trains, elsewhere it says in one
// line why not and what runs instead.
#include "course/report.h"
#include "device/cuda/cuda.h"
#include "tests/driver/shell.h"
#include "tests/support/catch.h"

using namespace shardlings;
using Catch::Matchers::Contains;

namespace {

Outcome tiny(const TemporaryFolder& folder, const std::string& options) {
  return shell(LESSON
               " --layers 2 --width 32 --heads 2 --context 33 --batch 3 --sample 0 --steps 5"
               " --output " +
               folder.path().string() + " " + options);
}

}  // namespace

TEST_CASE(
    "a lesson on the GPU has the losses of the CPU; without one it ends with 69 and one line") {
  const TemporaryFolder cuda, cpu;
  const Outcome outcome = tiny(cuda, "--backend cuda");
  CAPTURE(outcome.output);
  if (const std::string why = why_no_cuda(); !why.empty()) {
    REQUIRE(outcome.code == 69);
    REQUIRE(outcome.output == "error: --backend cuda: " + why + "; --backend cpu runs anywhere\n");
    return;
  }
  REQUIRE(outcome.code == 0);
  REQUIRE(tiny(cpu, "--backend cpu").code == 0);
  const auto losses = [](const TemporaryFolder& folder) {
    return read_report(folder.path() / "report.json").losses;
  };
  const std::vector<double> got = losses(cuda), expected = losses(cpu);
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(got[i] == Approx(expected[i]).epsilon(1e-4));
}

TEST_CASE("bench/gpu.sh without a GPU says what it needs, and writes nothing") {
  if (why_no_cuda().empty()) return;
  const TemporaryFolder folder;
  const Outcome outcome = shell(SOURCE_FOLDER "/bench/gpu.sh " + folder.path().string() + "/new");
  REQUIRE(outcome.code == 69);
  REQUIRE_THAT(outcome.output, Contains("gpu.sh: ") && Contains("nvidia-smi"));
  REQUIRE_FALSE(std::filesystem::exists(folder.path() / "new"));
}
