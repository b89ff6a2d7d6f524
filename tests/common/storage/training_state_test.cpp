#include "storage/training_state.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <set>
#include <string>

#include "tests/common/base/file_size_limit.h"
#include "tests/common/data/scratch.h"
#include "tests/common/storage/failure.h"
#include "tests/common/storage/model.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

namespace fs = std::filesystem;

// Tensors with the values that rounding through text or f32 would lose.
TrainingState state_of(Device& device, DType dtype, std::int64_t step, double value) {
  TrainingState state{.step = step, .settings = {{"D", "6"}, {"seed", "1"}}, .tensors = {}};
  for (const char* name : {"parameters/w", "optimizer/w.m", "optimizer/w.v"}) {
    const Tensor tensor(device, dtype, {3, 5}, name, Category::optimizer);
    std::vector<double> values(15, value / 3);
    values[1] = -0.0;
    values[2] = 1e-310;  // 0 in f32
    tensor.from_doubles(values);
    state.tensors.push_back({name, tensor});
  }
  return state;
}

std::set<std::string> names_in(const fs::path& directory) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) names.insert(entry.path().filename());
  return names;
}

[[noreturn]] void save_until_killed(const fs::path& directory, Device& device) {
  for (std::int64_t step = 2;; ++step)
    if (!failure([&] {
           save_training_state(directory,
                               state_of(device, DType::f64, step, static_cast<double>(step)));
         }).empty())
      ::_exit(1);
}

}  // namespace

TEST_CASE("a state comes back bit for bit, with its step") {
  for (const bool guarded : {false, true})
    for (const DType dtype : {DType::f32, DType::f64}) {
      const Scratch scratch;
      Machine machine(guarded);
      const TrainingState saved = state_of(*machine.device, dtype, 120, 1);
      const fs::path path = save_training_state(scratch.folder() / "run", saved);
      CHECK(path == scratch.folder() / "run" / "step_000120.safetensors");
      for (const fs::path& from : {path, scratch.folder() / "run"}) {
        TrainingState loaded = state_of(*machine.device, dtype, 0, 2);
        CHECK(load_training_state(from, loaded) == path);
        CHECK(loaded.step == 120);
        CHECK(values_of(loaded.tensors) == values_of(saved.tensors));
        CHECK(std::signbit(loaded.tensors[2].value.to_doubles()[1]));
      }
    }
}

TEST_CASE("the two newest states are kept, and the newest is found") {
  const Scratch scratch;
  const fs::path directory = scratch.folder() / "run";
  Machine machine;
  CHECK(newest_training_state(directory) == std::nullopt);
  for (const std::int64_t step : {0, 99, 1'000'000, 1'000'002})
    save_training_state(directory, state_of(*machine.device, DType::f32, step, 1));
  CHECK(names_in(directory) ==
        std::set<std::string>{"step_1000000.safetensors", "step_1000002.safetensors"});
  CHECK(newest_training_state(directory) == directory / "step_1000002.safetensors");
  // 999,999 is after 1,000,000 in the alphabet only. Later states are not this run's to remove.
  save_training_state(directory, state_of(*machine.device, DType::f32, 999'999, 1));
  CHECK(names_in(directory).size() == 3);
  CHECK(newest_training_state(directory) == directory / "step_1000002.safetensors");
}

TEST_CASE("what is no state is neither loaded nor removed") {
  const Scratch scratch;
  Machine machine;
  const fs::path& directory = scratch.folder();
  const std::set<std::string> others{"step_000900.safetensors.12.tmp",
                                     "step_-00009.safetensors",
                                     "step_.safetensors",
                                     "step_9x.safetensors",
                                     "step_99999999999999999999.safetensors",
                                     "notes.txt"};
  for (const std::string& name : others) scratch.write(name, "torn");
  TrainingState state = state_of(*machine.device, DType::f32, 0, 1);
  CHECK(failure([&] { load_training_state(directory, state); }) ==
        "66: " + directory.string() + " holds no step_NNNNNN.safetensors");
  for (const std::int64_t step : {1, 2, 3})
    save_training_state(directory, state_of(*machine.device, DType::f32, step, 1));
  CHECK(load_training_state(directory, state) == directory / "step_000003.safetensors");
  CHECK(names_in(directory).size() == others.size() + 2);
}

TEST_CASE("a directory with a later state is refused before anything is trained") {
  const Scratch scratch;
  Machine machine;
  require_no_state_after(0, scratch.folder() / "none");
  const fs::path path =
      save_training_state(scratch.folder(), state_of(*machine.device, DType::f32, 120, 1));
  require_no_state_after(120, scratch.folder());
  CHECK(failure([&] { require_no_state_after(119, scratch.folder()); }) ==
        "64: " + path.string() +
            " is of a later step than 119, where this run begins; resume it, or save elsewhere");
}

TEST_CASE("the state of another run is refused, difference by difference") {
  const Scratch scratch;
  Machine machine;
  const fs::path path =
      save_training_state(scratch.folder(), state_of(*machine.device, DType::f64, 3, 1));
  const auto loading = [&](const auto& change) {
    TrainingState state = state_of(*machine.device, DType::f64, 0, 2);
    change(state);
    const auto before = values_of(state.tensors);
    const std::string message = failure([&] { load_training_state(path, state); });
    CHECK(state.step == 0);
    CHECK(values_of(state.tensors) == before);
    return message;
  };
  const std::string begin = "65: " + path.string();
  CHECK(loading([](TrainingState& s) {
          s.settings = {{"D", "8"}, {"batch", "4"}};
        }) ==
        begin +
            " is of another run: \"D\" is \"6\" in the file and \"8\" in this run, \"batch\" is "
            "not known in the file and \"4\" in this run, \"seed\" is \"1\" in the file and not "
            "known in this run");
  CHECK(loading([](TrainingState& s) { s.tensors[0].name = "parameters/x"; }) ==
        begin +
            ": not the tensors of this model: missing \"parameters/x\"; unknown \"parameters/w\"");
  CHECK(loading([&](TrainingState& s) {
          s.tensors[0].value = Tensor(*machine.device, DType::f32, {3, 5}, "w");
          s.tensors[0].value.from_doubles(std::vector<double>(15));
        }) == begin + ": tensor \"parameters/w\": F32 expected, got F64");
  CHECK(loading([&](TrainingState& s) {
          s.tensors[0].value = s.tensors[0].value.view({5, 3});
        }) == begin + ": tensor \"parameters/w\": F64 [5, 3] expected, got F64 [3, 5]");
}

TEST_CASE("a file that is no saved state is refused") {
  const Scratch scratch;
  Machine machine;
  TrainingState state = state_of(*machine.device, DType::f32, 0, 1);
  for (const Metadata& metadata :
       {Metadata{}, Metadata{{"step", "3"}}, Metadata{{"format", "pt"}, {"step", "3"}},
        Metadata{{"format", "shardlings training state 1"}, {"step", "-3"}},
        Metadata{{"format", "shardlings training state 1"}, {"step", "3x"}}}) {
    const fs::path path = scratch.folder() / "step_000003.safetensors";
    write_tensors(path, state.tensors, metadata);
    CHECK(failure([&] { load_training_state(path, state); }) ==
          "65: " + path.string() + " is not the saved state of a run");
  }
}

TEST_CASE("a save that fails leaves the states before it") {
  const Scratch scratch;
  Machine machine;
  for (const std::int64_t step : {1, 2})
    save_training_state(scratch.folder(), state_of(*machine.device, DType::f64, step, 1));
  const auto before = names_in(scratch.folder());
  std::string message;
  {
    const FileSizeLimit limit(500);
    message = failure([&] {
      save_training_state(scratch.folder(), state_of(*machine.device, DType::f64, 3, 2));
    });
  }
  CHECK(message == "74: cannot write " + (scratch.folder() / "step_000003.safetensors").string() +
                       ": File too large");
  CHECK(names_in(scratch.folder()) == before);
}

// A child saves step after step until it is killed; whenever that is, what is there can be read.
TEST_CASE("a run that is killed while saving leaves a whole state") {
  Machine machine;
  for (int milliseconds : {1, 3, 10, 30}) {
    const Scratch scratch;
    save_training_state(scratch.folder(), state_of(*machine.device, DType::f64, 1, 1));
    const pid_t child = ::fork();
    if (child == 0) save_until_killed(scratch.folder(), *machine.device);
    ::usleep(static_cast<useconds_t>(1000 * milliseconds));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    TrainingState state = state_of(*machine.device, DType::f64, 0, 0);
    load_training_state(scratch.folder(), state);
    CHECK(values_of(state.tensors) == values_of(state_of(*machine.device, DType::f64, state.step,
                                                         static_cast<double>(state.step))
                                                    .tensors));
  }
}
