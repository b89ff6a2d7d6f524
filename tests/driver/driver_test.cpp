// The program behind ./shardlings, driven through its command line.
#include <sstream>

#include "tests/driver/shell.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

Outcome driver(const std::string& arguments) {
  return shell(DRIVER " " + arguments);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

void require_usage_error(const std::string& arguments, const std::string& message) {
  const Outcome outcome = driver(arguments);
  INFO(arguments);
  REQUIRE(outcome.output == "error: " + message + "\n");
  REQUIRE(outcome.code == 64);
}

// A table of lessons between its markers, as in README.md.
std::string readme(const std::string& table) {
  return "before\n<!-- lessons: ./shardlings readme -->\n" + table +
         "<!-- end of lessons -->\nafter\n";
}

}  // namespace

TEST_CASE("the list has the lessons of the catalogue") {
  const Outcome outcome = driver("list");
  REQUIRE(outcome.code == 0);
  REQUIRE(contains(outcome.output, "01 * training_step "));
}

TEST_CASE("every command is in the help and explains itself") {
  const Outcome help = driver("--help");
  REQUIRE(help.code == 0);
  for (const std::string command : {"run", "list", "text", "bench", "test", "doctor", "readme"}) {
    REQUIRE(contains(help.output, "\n  " + command + " "));
    const Outcome own = driver(command + " --help");
    REQUIRE(own.code == 0);
    REQUIRE(own.output.starts_with("./shardlings " + command));
  }
}

TEST_CASE("the bare call says what is next") {
  const Outcome outcome = driver("");
  REQUIRE(outcome.code == 0);
  REQUIRE(contains(outcome.output, "./shardlings run 01"));
}

TEST_CASE("a wrong command line is one line with a way out") {
  require_usage_error("lsit", "there is no command \"lsit\"; did you mean list?");
  require_usage_error(
      "frobnicate",
      "there is no command \"frobnicate\"; ./shardlings --help lists those there are");
  require_usage_error("''", "there is no command \"\"; ./shardlings --help lists those there are");
  require_usage_error("run", "run needs a lesson, for example: ./shardlings run 01");
  require_usage_error("run 99",
                      "there is no lesson \"99\"; ./shardlings list shows those there are");
  require_usage_error("run 001",
                      "there is no lesson \"001\"; ./shardlings list shows those there are");
  require_usage_error("run trainig_step",
                      "there is no lesson \"trainig_step\"; did you mean training_step?");
  require_usage_error("list 3", "unexpected \"3\" after list");
}

TEST_CASE("run becomes the lesson's program") {
  const Outcome help = driver("run 1 --help");
  REQUIRE(help.code == 0);
  REQUIRE(contains(help.output, "Usage: ./shardlings run 01 [options]"));
  REQUIRE(driver("run training_step --no-such-option").code == 64);
}

TEST_CASE("a signal reaches the lesson's program, which stops in order") {
  const TemporaryFolder folder;
  const std::string path = folder.path();
  const std::string log = path + "/log";
  const Outcome outcome = shell(
      DRIVER " run 01 --layers 1 --width 32 --context 16 --batch 1 --steps 1000000 --output " +
      path + " >" + log + " 2>&1 & until grep -qs step " + log +
      "; do sleep 0.1; done; kill -TERM $!; wait $!");
  INFO(read_file(log));
  REQUIRE(outcome.code == 75);
  REQUIRE(std::filesystem::exists(path + "/report.json"));
}

TEST_CASE("the doctor reports machine, tools and packages") {
  const Outcome outcome = driver("doctor");
  REQUIRE(outcome.code == 0);
  for (const std::string what :
       {"shardlings", "system", "processor", "memory", "gpu", "compiler", "cmake", "build"})
    REQUIRE(contains("\n" + outcome.output, "\n" + what + " "));
  std::istringstream lines(read_file(SOURCE_FOLDER "/tools/packages.txt"));
  for (std::string line; std::getline(lines, line);) {
    const std::string package = line.substr(0, line.find(' '));
    if (package != "#") REQUIRE(contains(outcome.output, " " + package + " "));
  }
}

TEST_CASE("the README's table of lessons is the catalogue's") {
  const Outcome outcome = driver("readme --check");
  INFO(outcome.output);
  REQUIRE(outcome.code == 0);
}

TEST_CASE("readme renews the table and nothing else") {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "README.md";
  write_file(file, readme("an old table\n"));
  REQUIRE(driver("readme --check " + file).code == 1);
  REQUIRE(read_file(file) == readme("an old table\n"));

  REQUIRE(driver("readme " + file).code == 0);
  REQUIRE(driver("readme --check " + file).code == 0);
  const std::string text = read_file(file);
  REQUIRE(text.starts_with("before\n<!-- lessons"));
  REQUIRE(text.ends_with("<!-- end of lessons -->\nafter\n"));
  REQUIRE(contains(text, "[training_step](lessons/01_training_step)"));
  REQUIRE_FALSE(contains(text, "an old table"));

  write_file(file, "<!-- lessons: ./shardlings readme -->\nno end\n");
  REQUIRE(driver("readme " + file).code == 65);
  REQUIRE(driver("readme " + file + ".none").code == 66);
}
