// The program behind ./shardlings text, with a small program `bible` of our own in its PATH.
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/common/data/scratch.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Outcome {
  int code;
  std::string output;
  std::string errors;
};

// In the scratch folder; without more, that is all there is in PATH.
Outcome run(const Scratch& scratch, const std::string& arguments, const std::string& path = ".") {
  const std::string command = "cd '" + scratch.folder().string() + "' && PATH=" + path +
                              " " TEXT_PROGRAM " " + arguments + " > out 2> err";
  const int status = std::system(command.c_str());
  return {WEXITSTATUS(status), read(scratch.folder() / "out"), read(scratch.folder() / "err")};
}

void make_bible(const Scratch& scratch, const std::string& script) {
  std::filesystem::permissions(scratch.write("bible", "#!/bin/sh\n" + script),
                               std::filesystem::perms::owner_all);
}

}  // namespace

TEST_CASE("verses lose their labels, chapters keep apart") {
  const Scratch scratch;
  make_bible(scratch,
             "[ \"$*\" = '-f gen1:1-rev22:21' ] || exit 1\n"
             "echo 'Ge1:1 In the beginning: and so on.'\n"
             "echo 'Ge1:2 And the earth  was.'\n"
             "echo 'Ge2:1 Thus (the) heavens.'\n"
             "echo '1Sm2:1 And Hannah prayed.'\n");
  const Outcome made = run(scratch, "kjv");
  CHECK(made.code == 0);
  CHECK(made.errors.empty());
  const std::string text = read(scratch.folder() / "data/kjv.txt");
  CHECK(text ==
        "In the beginning: and so on.\nAnd the earth  was.\n\nThus (the) heavens.\n\nAnd Hannah "
        "prayed.\n");
  CHECK(made.output.find("data/kjv.txt: the King James Bible, 90 B") == 0);
  CHECK(run(scratch, "kjv deep/er/file.txt").code == 0);
  CHECK(read(scratch.folder() / "deep/er/file.txt") == text);
}

TEST_CASE("the King James Bible itself") {
  const Scratch scratch;
  const Outcome made = run(scratch, "kjv", "$PATH");
  if (made.code == 69) {
    WARN("skipped: " << made.errors);
    return;
  }
  REQUIRE(made.code == 0);
  const std::string text = read(scratch.folder() / "data/kjv.txt");
  CHECK(text.find("In the beginning God created the heaven and the earth.\n") == 0);
  CHECK(text.size() == Approx(4139038).epsilon(0.001));
  for (const char* entropy : {"3.02", "2.25", "1.73"})
    CHECK(made.output.find(entropy) != std::string::npos);
}

TEST_CASE("without the package, the line that installs it") {
  const Scratch scratch;
  const Outcome missing = run(scratch, "kjv");
  CHECK(missing.code == 69);
  CHECK(missing.errors ==
        "error: the program bible is not there; sudo apt-get install bible-kjv\n");
  CHECK(!std::filesystem::exists(scratch.folder() / "data"));
}

TEST_CASE("a program that prints no verses leaves the old text alone") {
  const Scratch scratch;
  std::filesystem::create_directory(scratch.folder() / "data");
  scratch.write("data/kjv.txt", "old");
  for (const char* script : {"echo 'Cannot open data file'", "echo 'Ge1:1'", "exit 3", "true"}) {
    make_bible(scratch, script);
    const Outcome failed = run(scratch, "kjv");
    CHECK(failed.code == 65);
    CHECK(std::count(failed.errors.begin(), failed.errors.end(), '\n') == 1);
    CHECK(read(scratch.folder() / "data/kjv.txt") == "old");
  }
}

TEST_CASE("names that there are not") {
  const Scratch scratch;
  const Outcome near = run(scratch, "kvj");
  CHECK(near.code == 64);
  CHECK(
      near.errors ==
      "error: there is no text \"kvj\", did you mean kjv? There is: kjv (the King James Bible)\n");
  CHECK(run(scratch, "wikipedia").errors ==
        "error: there is no text \"wikipedia\". There is: kjv (the King James Bible)\n");
  CHECK(run(scratch, "").code == 64);
  CHECK(run(scratch, "kjv a b").code == 64);
}
