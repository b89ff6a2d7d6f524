#include "tools/exercises/texts.h"

#include <filesystem>

#include "base/check.h"
#include "tests/driver/shell.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

const std::string kHints = R"(# Hints for exercise 10

## 10.1

1. A question,
   over two lines.
2. More.
3. Nearly there.

## 10.2

1. a
2. b
3. c
)";

const std::string kDrill = R"(# Drill 10

<!-- run: a_fault --steps 60 -->

A run printed:

    loss  3.1
    1. this is no choice

1. Too fast.
2. Too slow,
   by far.

## Answer: 2

1. It would have jumped.
2. So it is.
)";

std::string with(std::string text, const std::string& before, const std::string& after) {
  return text.replace(text.find(before), before.size(), after);
}

class File {
 public:
  explicit File(const std::string& text) { write_file(path(), text); }
  std::filesystem::path path() const { return folder_.path() / "text.md"; }

 private:
  TemporaryFolder folder_;
};

template <class Read>
void require_refused(const std::string& text, const std::string& message, Read read) {
  INFO(text);
  const File file(text);
  try {
    read(file.path());
    FAIL("it was not refused");
  } catch (const Error& error) {
    REQUIRE(std::string(error.what()) == file.path().string() + ":" + message);
    REQUIRE(error.code() == ExitCode::bad_data);
  }
}

}  // namespace

TEST_CASE("hints: three levels per step") {
  const File file(kHints);
  const std::vector<Hints> hints = read_hints(file.path());
  REQUIRE(hints.size() == 2);
  CHECK(hints[0].step == "10.1");
  CHECK(hints[0].levels[0] == "A question, over two lines.");
  CHECK(hints[0].levels[2] == "Nearly there.");
  CHECK(hints[1].step == "10.2");
}

TEST_CASE("hints that are not written so are refused with their line") {
  const auto refused = [](const std::string& before, const std::string& after,
                          const std::string& message) {
    require_refused(with(kHints, before, after), message, read_hints);
  };
  refused("# Hints for exercise 10", "Hints",
          "1: expected a title, \"# Hints for exercise 10\", got \"Hints\"");
  refused("3. Nearly there.\n", "", "9: expected hints 1. to 3. of 10.1, got \"## 10.2\"");
  refused("3. c\n", "3. c\n4. d\n", "16: expected hints 1. to 3. of 10.2, got the end of the file");
  refused("## 10.2", "## step 2", "10: expected a step, \"## 10.1\", got \"## step 2\"");
  CHECK_THROWS_WITH(read_hints("/nowhere/hints.md"),
                    "cannot read /nowhere/hints.md: No such file or directory");
}

TEST_CASE("a drill: story, choices, and why each is right or not") {
  const File file(kDrill);
  const Drill drill = read_drill(file.path());
  CHECK(drill.run == "a_fault --steps 60");
  CHECK(drill.story == "A run printed:\n\n    loss  3.1\n    1. this is no choice");
  REQUIRE(drill.choices.size() == 2);
  CHECK(drill.choices[1].text == "Too slow, by far.");
  CHECK(drill.choices[1].why == "So it is.");
  CHECK(drill.answer == 2);
}

TEST_CASE("a drill that is not written so is refused with its line") {
  const auto refused = [](const std::string& before, const std::string& after,
                          const std::string& message) {
    require_refused(with(kDrill, before, after), message, read_drill);
  };
  refused("<!-- run: a_fault --steps 60 -->\n", "",
          "4: expected what was run, \"<!-- run: fault --options -->\", got \"A run printed:\"");
  refused("2. Too slow,\n   by far.\n", "",
          "12: expected at least two choices, got \"## Answer: 2\"");
  refused("## Answer: 2", "## Answer: two",
          "14: expected \"## Answer: 2\", got \"## Answer: two\"");
  const std::string whole = "expected an answer from 1 to 2, then why, 1. to 2., got ";
  refused("## Answer: 2", "## Answer: 3", "18: " + whole + "the end of the file");
  refused("2. So it is.\n", "", "17: " + whole + "the end of the file");
  refused("2. So it is.\n", "2. So it is.\n3. More.\n", "19: " + whole + "the end of the file");
}
