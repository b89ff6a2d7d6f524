// Every lesson's text has the same parts in the same order, and names only files that are there.
#include <regex>

#include "tests/driver/shell.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

const std::vector<std::string> kHeadings{
    "## The question",
    "## Inputs, outputs, learning signal, main constraint",
    "## The idea",
    "> **Card**",
    "## The hand budget",
    "## Run it",
    "## Read the report",
    "## Exercise",
    "## One failure mode",
    "## What it costs at scale",
    "## The same thing elsewhere",
    "## Close the page",
    "## Sources",
};

std::vector<std::filesystem::path> lesson_folders() {
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(SOURCE_FOLDER "/lessons"))
    if (entry.is_directory()) folders.push_back(entry.path());
  return folders;
}

}  // namespace

TEST_CASE("a lesson's text has its headings in order") {
  REQUIRE_FALSE(lesson_folders().empty());
  for (const std::filesystem::path& folder : lesson_folders()) {
    const std::string text = read_file(folder / "README.md");
    std::size_t at = 0;
    for (const std::string& heading : kHeadings) {
      CAPTURE(folder, heading);
      at = text.find("\n" + heading, at);
      REQUIRE(at != std::string::npos);
    }
  }
}

TEST_CASE("a lesson's text names files that are there") {
  for (const std::filesystem::path& folder : lesson_folders()) {
    const std::string text = read_file(folder / "README.md");
    const std::regex named("`([A-Za-z0-9_/.]+\\.(?:h|cpp|toml))`");
    for (std::sregex_iterator match(text.begin(), text.end(), named), end; match != end; ++match) {
      const std::string name = (*match)[1];
      CAPTURE(folder, name);
      REQUIRE((std::filesystem::exists(folder / name) ||
               std::filesystem::exists(std::filesystem::path(SOURCE_FOLDER) / name)));
    }
  }
}
