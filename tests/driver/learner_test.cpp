// The learner's commands, in a folder of the test's own (SHARDLINGS_LEARNER).
#include "base/check.h"
#include "tests/driver/shell.h"
#include "tests/support/catch.h"

using namespace shardlings;
using Catch::Contains;

namespace {

class Learner {
 public:
  Learner() { do_("reset 01"); }

  Outcome do_(const std::string& command) const {
    return shell("SHARDLINGS_LEARNER=" + folder_.path().string() + " " DRIVER " " + command);
  }
  std::filesystem::path file(const std::string& name) const { return folder_.path() / name; }
  std::filesystem::path exercise(const std::string& name) const {
    return file("exercises/01_training_step/" + name);
  }
  void take_solution(const std::string& name) const {
    write_file(exercise(name), read_file(SOURCE_FOLDER "/solutions/01_training_step/" + name));
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("reset makes the exercise and keeps what was there") {
  const Learner learner;
  REQUIRE_THAT(read_file(learner.exercise("exercise.cpp")), Contains("todo(\"1.1\");"));
  REQUIRE_THAT(read_file(learner.exercise("budget.toml")), Contains("optimizer   = \"?\""));
  write_file(learner.exercise("exercise.cpp"), "my work");
  const Outcome outcome = learner.do_("reset 01");
  REQUIRE(outcome.code == 0);
  REQUIRE_THAT(outcome.output, Contains("01_training_step-2"));
  REQUIRE(read_file(learner.file(".shardlings/backup/01_training_step-2/exercise.cpp")) ==
          "my work");
  REQUIRE_THAT(read_file(learner.exercise("exercise.cpp")), Contains("todo(\"1.1\");"));
}

TEST_CASE("check stops at the budget while a row is not written or wrong") {
  const Learner learner;
  const Outcome untouched = learner.do_("check 01");
  REQUIRE(untouched.code == 1);
  REQUIRE_THAT(untouched.output, Contains("not written yet") && Contains("The budget comes first"));
  REQUIRE_FALSE(std::filesystem::exists(learner.file("notes/01.md")));

  learner.take_solution("budget.toml");
  std::string sheet = read_file(learner.exercise("budget.toml"));
  sheet.replace(sheet.find("\"w * P\""), 7, "\"P\"");
  write_file(learner.exercise("budget.toml"), sheet);
  const Outcome elements = learner.do_("check 01");
  REQUIRE(elements.code == 1);
  REQUIRE_THAT(elements.output, Contains("elements were counted"));

  write_file(learner.exercise("budget.toml"), "[memory]\nparameters = \"w *\"\n");
  const Outcome malformed = learner.do_("check 01");
  REQUIRE(malformed.code == 65);
  REQUIRE_THAT(malformed.output, Contains("budget.toml:2:"));
}

TEST_CASE("hints come one after the other, three in all") {
  const Learner learner;
  REQUIRE_THAT(learner.do_("hint").output, Contains("Hint 1 of 3") && Contains("1.2"));
  REQUIRE_THAT(learner.do_("hint").output, Contains("Hint 2 of 3"));
  REQUIRE_THAT(learner.do_("hint 01").output, Contains("Hint 3 of 3") && Contains("--spoil"));
  REQUIRE_THAT(learner.do_("hint").output, Contains("Hint 3 of 3"));
}

TEST_CASE("the solution is shown after passing, or when asked for plainly") {
  const Learner learner;
  REQUIRE(learner.do_("solution 01").code == 1);
  const Outcome spoilt = learner.do_("solution 01 --spoil");
  REQUIRE(spoilt.code == 0);
  REQUIRE_THAT(spoilt.output, Contains("std::sqrt(squares)"));
}

TEST_CASE("the drill says why an answer is wrong, and remembers a right one") {
  const Learner learner;
  const Outcome asked = learner.do_("drill 01");
  REQUIRE(asked.code == 0);
  REQUIRE_THAT(asked.output, Contains("  1. ") && Contains("  2. "));
  int right = 0, answers = 0;
  for (int i = 1; i <= 9; ++i) {
    const Outcome outcome = learner.do_("drill 01 " + std::to_string(i));
    if (outcome.code == 64) break;
    ++answers;
    right += outcome.code == 0;
    REQUIRE_THAT(outcome.output, Contains(outcome.code == 0 ? "Right." : "Not this one."));
  }
  REQUIRE(right == 1);
  REQUIRE(answers >= 3);
  REQUIRE(learner.do_("drill 01 2x").code == 64);
  REQUIRE_THAT(read_file(learner.file(".shardlings/progress.json")), Contains("\"drill\": true"));
}

TEST_CASE("skip, goto, next and list agree; after the last lesson there is still a way on") {
  const Learner learner;
  REQUIRE(learner.do_("skip").code == 0);
  REQUIRE_THAT(learner.do_("list").output, Contains("skipped"));
  REQUIRE(learner.do_("goto training_step").code == 0);
  REQUIRE_THAT(learner.do_("next").output, Contains("[ ] budget"));
  std::string all;
  for (const auto& folder : std::filesystem::directory_iterator(SOURCE_FOLDER "/exercises"))
    all += fmt::format(R"({}"{}": {{"budget": true, "code": true, "drill": true}})",
                       all.empty() ? "" : ", ", folder.path().filename().string().substr(3));
  write_file(learner.file(".shardlings/progress.json"), "{\"lessons\": {" + all + "}}");
  REQUIRE_THAT(learner.do_("list").output, Contains("done"));
  REQUIRE_THAT(learner.do_("").output, Contains("finished every lesson"));
  REQUIRE(learner.do_("hint").code == 0);
  write_file(learner.file(".shardlings/progress.json"), "{ not json");
  REQUIRE(learner.do_("next").code == 0);
}

TEST_CASE("a folder that cannot be written costs the memory of the progress, not the command") {
  const Outcome outcome = shell("SHARDLINGS_LEARNER=/proc " DRIVER " hint 01");
  REQUIRE(outcome.code == 0);
  REQUIRE_THAT(outcome.output, Contains("Hint 1 of 3") && Contains("not remembered"));
}

TEST_CASE("show reads a lesson's files in the order of its text") {
  const Learner learner;
  const std::string shown = learner.do_("show 02").output;
  std::size_t last = 0;
  for (const char* name :
       {"stored_attention.h", "stored_attention.cpp", "exercise.h", "plain_attention.h",
        "plain_attention.cpp", "attention_blocks.h", "attention_blocks.cpp", "main.cpp"}) {
    CAPTURE(name);
    const std::size_t at = shown.find(fmt::format("==> lessons/02_activation_memory/{}\n", name));
    REQUIRE(at != std::string::npos);
    REQUIRE(at >= last);
    last = at;
  }
}

TEST_CASE("show and diff read a lesson's program") {
  const Learner learner;
  const Outcome shown = learner.do_("show 01");
  REQUIRE(shown.code == 0);
  const auto at = [&](const std::string& name) {
    return shown.output.find("==> lessons/01_training_step/" + name);
  };
  REQUIRE(at("layer.h") < at("layers.cpp"));
  REQUIRE(at("layers.cpp") < at("gpt.cpp"));
  REQUIRE(at("gpt.cpp") < at("main.cpp"));
  REQUIRE(at("main.cpp") != std::string::npos);
  REQUIRE_THAT(learner.do_("diff 01").output, Contains("builds on no other"));
  REQUIRE_THAT(learner.do_("diff 04").output, Contains("accumulate_gradients"));
}

TEST_CASE("a budget is evaluated at any scale") {
  const Learner learner;
  learner.take_solution("budget.toml");
  const Outcome text = learner.do_("budget 01 --model gpt3-175b");
  REQUIRE(text.code == 0);
  REQUIRE_THAT(text.output, Contains("174,604,259,328") && Contains("650 GiB"));
  REQUIRE_THAT(learner.do_("budget 01 --model gpt2 --policy bf16 --B 8 --json").output,
               Contains("\"parameters\""));
  REQUIRE(learner.do_("budget 01 --model gpt5").code == 64);
  REQUIRE(learner.do_("budget 01 --Q 3").code == 64);
  REQUIRE(learner.do_("budget 01 --T 12abc").code == 64);

  write_file(learner.exercise("budget.toml"), "[let]\nx = \"every*D\"\n[memory]\na = \"full*x\"\n");
  const Outcome unset = learner.do_("budget 01 --model gpt2");
  REQUIRE(unset.code == 64);
  REQUIRE_THAT(unset.output, Contains("uses every, full, without a value here: --every NUMBER"));
  REQUIRE(learner.do_("budget 01 --model gpt2 --every 2 --full 1").code == 0);
}
