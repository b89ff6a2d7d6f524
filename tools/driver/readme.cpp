#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "base/atomic_file.h"
#include "base/check.h"
#include "base/units.h"
#include "configured.h"
#include "tools/driver/build.h"
#include "tools/driver/catalogue.h"
#include "tools/driver/command.h"
#include "tools/driver/lesson_files.h"

namespace shardlings {

namespace {

std::string table_of_lessons() {
  std::string table = "| | lesson | the one idea | extends |\n|---|---|---|---|\n";
  for (const Lesson& lesson : lessons())
    table += fmt::format("| {} {} | [{}](lessons/{}) | {} | {} |\n", lesson.id,
                         lesson.fast_track ? "★" : "", lesson.slug, lesson.name(), lesson.title,
                         lesson.builds_on);
  return table;
}

std::string program(const char* name) {
  build_target(name, name);
  return fmt::format("{}/bin/{}", kBuildFolder, name);
}

// What the golden run of a lesson prints at its end.
std::string golden_output(const std::string& lesson) {
  const std::string report = fmt::format("tests/golden/{}.json", lesson);
  const std::string text = output_of(
      {"env", "-C", kSourceFolder, "COLUMNS=96", program("report"), "--measured", report});
  if (text.empty()) fail(ExitCode::no_input, "{} cannot be read", report);
  return "```\n" + text + "\n```\n";
}

// One table of the course's sheet, in f32 with one sequence: "gpt2 gpt3-175b --stored 1". A column
// is a model or, as in "n=8 n=64", a letter; what follows sets letters for all columns.
std::string budget_table(const std::string& lesson, const std::string& table,
                         const std::string& arguments) {
  const std::string budget = program("budget");
  const std::string sheet = fmt::format("{}/solutions/{}/budget.toml", kSourceFolder, lesson);
  std::string names, rule = "|---|";
  std::vector<std::pair<std::string, std::string>> lines;  // row name, cells
  const std::size_t letters = std::min(arguments.find("--"), arguments.size());
  std::istringstream columns(arguments.substr(0, letters));
  for (std::string column; columns >> column;) {
    const std::size_t equals = column.find('=');
    const bool is_letter = equals != column.npos;
    CommandLine command{budget, sheet, "--json",
                        is_letter ? "--" + column.substr(0, equals) : "--model",
                        is_letter ? column.substr(equals + 1) : column};
    std::istringstream words(arguments.substr(letters));
    for (std::string word; words >> word;) command.push_back(word);
    const auto json = nlohmann::json::parse(output_of(command));
    names += fmt::format(" {} |", column);
    rule += "---|";
    std::size_t next = 0;
    for (const auto& row : json.at("rows")) {
      if (row.at("table") != table) continue;
      if (next == lines.size()) lines.emplace_back(row.at("name"), "");
      const auto value = static_cast<std::int64_t>(std::llround(row.at("value").get<double>()));
      lines[next++].second +=
          fmt::format(" {} |", table == "counts" ? format_count(value) : format_bytes(value));
    }
  }
  std::string text = "| |" + names + "\n" + rule + "\n";
  for (const auto& [name, cells] : lines) text += fmt::format("| {} |{}\n", name, cells);
  return text;
}

// On which GPUs bench/gpu.sh has run, and what it found; it writes the files that are read here.
std::string table_of_gpus() {
  namespace fs = std::filesystem;
  std::set<fs::path> files;
  if (const fs::path results = fs::path(kSourceFolder) / "bench/results"; fs::exists(results))
    for (const auto& entry : fs::directory_iterator(results))
      if (entry.path().string().ends_with(".gpu.json")) files.insert(entry.path());

  std::string table =
      "| GPU | driver and toolkit | tests | compute-sanitizer | a step of gpt2-1024 |\n"
      "|---|---|---|---|---|\n";
  if (files.empty()) table += "| none so far | - | compiles; not run | - | - |\n";
  for (const fs::path& file : files) {
    const auto records = nlohmann::json::parse(content_of(file));
    const auto& run = records.at(0);
    const auto word = [&](const char* name) { return run.at(name).get<std::string>(); };
    std::string step = "-";
    for (const auto& record : records)
      if (record.value("case", "") == "gpt2-1024" && record.value("dtype", "") == "f32")
        step = fmt::format("{:.0f} tokens/s in f32, MFU {:.0f} %",
                           record.at("tokens_per_second").get<double>(),
                           100 * record.at("share_of_peak").get<double>());
    table += fmt::format("| {} | {}; {} | {} | {} | {} |\n", word("processor"), word("compiler"),
                         word("date"), word("tests"), word("memcheck"), step);
  }
  return table;
}

// "<!-- budget memory: gpt2 gpt3-175b -->" (or traffic, or counts), "<!-- golden output -->",
// "<!-- lessons: ... -->" and "<!-- gpus: ... -->" begin a block that is written here; "<!-- end"
// ends it. `lesson` is the folder of the text.
std::string with_fresh_blocks(const std::string& text, const std::string& lesson) {
  static const std::regex budget("<!-- budget (memory|traffic|counts): (.*) -->");
  std::string fresh;
  bool inside = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("<!-- end")) inside = false;
    if (!inside) fresh += line + "\n";
    std::string block;
    if (line.starts_with("<!-- lessons:"))
      block = table_of_lessons();
    else if (line.starts_with("<!-- gpus:"))
      block = table_of_gpus();
    else if (line == "<!-- golden output -->")
      block = golden_output(lesson);
    else if (std::smatch match; std::regex_match(line, match, budget))
      block = budget_table(lesson, match[1], match[2]);
    if (block.empty()) continue;
    fresh += block;
    inside = true;
  }
  if (inside) fail(ExitCode::bad_data, "a block is not ended by a line <!-- end -->");
  return fresh;
}

void refresh(const std::filesystem::path& path, bool check) {
  const std::string old = content_of(path);
  const std::string fresh = with_fresh_blocks(old, path.parent_path().filename());
  if (fresh == old) return;
  if (check)
    fail(ExitCode::check_failed, "{}: its tables are old; ./shardlings readme renews them",
         path.string());
  write_file_atomically(path, fresh);
}

}  // namespace

// Tables and outputs in README.md and the lessons' texts. --check only tells whether they are up to
// date.
int refresh_readme(Arguments arguments) {
  const bool check = !arguments.empty() && arguments[0] == "--check";
  if (check) arguments = arguments.subspan(1);
  if (!arguments.empty()) return refresh(arguments[0], check), 0;
  refresh(std::filesystem::path(kSourceFolder) / "README.md", check);
  for (const Lesson& lesson : lessons()) refresh(lesson_file(lesson, "README.md"), check);
  return 0;
}

}  // namespace shardlings
