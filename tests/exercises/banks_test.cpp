// What belongs to an exercise is there, and fits together: for every lesson in solutions/.
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "budget/sheet.h"
#include "tests/driver/shell.h"
#include "tests/support/catch.h"
#include "tools/exercises/skeleton.h"
#include "tools/exercises/texts.h"

using namespace shardlings;
namespace fs = std::filesystem;

namespace {

const fs::path kRoot = SOURCE_FOLDER;

std::vector<std::string> lessons() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kRoot / "solutions"))
    names.push_back(entry.path().filename());
  return names;
}

std::vector<fs::path> files(const std::string& folder, const std::string& extension) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(kRoot / folder))
    if (entry.path().extension() == extension) found.push_back(entry.path());
  return found;
}

std::vector<std::string> steps_of(const std::string& lesson) {
  const std::string solution = read_file(kRoot / "solutions" / lesson / "exercise.cpp");
  const std::regex marker(R"(// \[exercise (\d+\.\d+)\])");
  std::vector<std::string> steps;
  for (std::sregex_iterator match(solution.begin(), solution.end(), marker), end; match != end;
       ++match)
    steps.push_back((*match)[1]);
  return steps;
}

// What a file says behind `before` in its first lines.
std::string words_of(const fs::path& file, const std::string& before) {
  const std::string text = read_file(file);
  const std::size_t begin = text.find(before);
  REQUIRE(begin < 200);
  return text.substr(begin + before.size(), text.find('\n', begin) - begin - before.size());
}

}  // namespace

TEST_CASE("three wrong answers and two right ones, and no diagnosis twice") {
  for (const std::string& lesson : lessons()) {
    INFO(lesson);
    const std::vector<fs::path> wrong = files("tests/wrong/" + lesson, ".cpp");
    CHECK(wrong.size() >= 3);
    CHECK(files("tests/right/" + lesson, ".cpp").size() >= 2);
    std::set<std::string> diagnoses;
    for (const fs::path& file : wrong) {
      INFO(file);
      CHECK(diagnoses.insert(words_of(file, "// diagnosis: ")).second);
    }
  }
}

TEST_CASE("every fault names its check and its diagnosis") {
  for (const std::string& lesson : lessons()) {
    const std::string folder = "tests/faults/" + lesson;
    if (!fs::exists(kRoot / folder)) continue;
    for (const fs::path& file : files(folder, ".patch")) {
      INFO(file);
      const std::string symptoms = read_file(kRoot / folder / "symptoms.cpp");
      CHECK(symptoms.find('"' + words_of(file, "check: ") + '"') != symptoms.npos);
      CHECK_FALSE(words_of(file, "diagnosis: ").empty());
    }
  }
}

TEST_CASE("three hints for every step") {
  for (const std::string& lesson : lessons()) {
    INFO(lesson);
    std::vector<std::string> steps;
    for (const Hints& hints : read_hints(kRoot / "lessons" / lesson / "hints.md"))
      steps.push_back(hints.step);
    CHECK(steps == steps_of(lesson));
  }
}

TEST_CASE("a drill is about something in the banks") {
  for (const std::string& lesson : lessons()) {
    const fs::path file = kRoot / "solutions" / lesson / "drill.md";
    if (!fs::exists(file)) continue;
    const std::string run = read_drill(file).run, name = run.substr(0, run.find(' '));
    INFO(run);
    CHECK((fs::exists(kRoot / "tests/faults" / lesson / (name + ".patch")) ||
           fs::exists(kRoot / "tests/wrong" / lesson / (name + ".cpp"))));
  }
}

TEST_CASE("a learner's sheet has the rows of the solution, and no answers") {
  for (const std::string& lesson : lessons()) {
    const std::string file = "solutions/" + lesson + "/budget.toml";
    const std::string solution = read_file(kRoot / file);
    const Sheet solved = parse_sheet(solution, file);
    const Sheet mine = parse_sheet(skeleton(solution, file), "budget.toml");
    INFO(file);
    REQUIRE(mine.rows.size() == solved.rows.size());
    for (std::size_t i = 0; i < mine.rows.size(); ++i) {
      CHECK(mine.rows[i].table == solved.rows[i].table);
      CHECK(mine.rows[i].name == solved.rows[i].name);
      CHECK_FALSE(mine.rows[i].formula);
      CHECK(solved.rows[i].formula);
    }
  }
}
