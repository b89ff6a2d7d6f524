#include <fstream>
#include <sstream>

#include "base/atomic_file.h"
#include "base/check.h"
#include "configured.h"
#include "tools/driver/catalogue.h"
#include "tools/driver/command.h"

namespace shardlings {

namespace {

constexpr std::string_view kBegin = "<!-- lessons: ./shardlings readme -->";
constexpr std::string_view kEnd = "<!-- end of lessons -->";

std::string table_of_lessons() {
  std::string table = "| | lesson | the one idea | extends |\n|---|---|---|---|\n";
  for (const Lesson& lesson : lessons())
    table += fmt::format("| {} {} | [{}](lessons/{}) | {} | {} |\n", lesson.id,
                         lesson.fast_track ? "★" : "", lesson.slug, lesson.name(), lesson.title,
                         lesson.builds_on);
  return table;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream content;
  content << file.rdbuf();
  if (!file) fail(ExitCode::no_input, "{} cannot be read", path);
  return content.str();
}

}  // namespace

// Between two markers stands a table made from the catalogue. --check only tells whether it is up
// to date.
int refresh_readme(Arguments arguments) {
  const bool check = !arguments.empty() && arguments[0] == "--check";
  if (check) arguments = arguments.subspan(1);
  const std::string path =
      arguments.empty() ? fmt::format("{}/README.md", kSourceFolder) : arguments[0];

  const std::string old = content_of(path);
  const auto begin = old.find(kBegin);
  const auto end = old.find(kEnd);
  if (begin == old.npos || end == old.npos || end < begin)
    fail(ExitCode::bad_data, "{} has no lines \"{}\" and \"{}\"", path, kBegin, kEnd);
  const std::string fresh =
      old.substr(0, begin + kBegin.size()) + "\n" + table_of_lessons() + old.substr(end);

  if (fresh == old) return 0;
  if (check)
    fail(ExitCode::check_failed, "{}: the table of lessons is old; ./shardlings readme renews it",
         path);
  write_file_atomically(path, fresh);
  return 0;
}

}  // namespace shardlings
