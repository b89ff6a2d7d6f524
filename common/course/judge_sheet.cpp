#include "course/judge_sheet.h"

#include <algorithm>
#include <array>

#include "course/hand_budget.h"
#include "course/ranks.h"
#include "course/table.h"
#include "course/terminal.h"

namespace shardlings {

namespace {

struct SmallRun {
  std::string_view name;
  ModelSize size;
  std::int64_t batch;
  std::string_view dtype;
};

// Odd, one, and pairwise different sizes, so that no two letters can be mistaken for each other.
// Each runs with every combination of the lesson's knobs.
constexpr std::array<SmallRun, 8> kSmallRuns{{
    {"L 1, D 8", {.L = 1, .D = 8, .H = 1, .T = 3, .V = 256}, 1, "f32"},
    {"L 1, D 10, f64", {.L = 1, .D = 10, .H = 2, .T = 5, .V = 300}, 2, "f64"},
    {"L 2, D 12", {.L = 2, .D = 12, .H = 3, .T = 7, .V = 256}, 3, "f32"},
    {"L 3, D 15, f64", {.L = 3, .D = 15, .H = 5, .T = 9, .V = 511}, 1, "f64"},
    {"L 5, D 10", {.L = 5, .D = 10, .H = 5, .T = 4, .V = 280}, 4, "f32"},
    {"L 2, D 33", {.L = 2, .D = 33, .H = 11, .T = 65, .V = 257}, 2, "f32"},
    {"L 8, D 72, f64", {.L = 8, .D = 72, .H = 24, .T = 48, .V = 256}, 1, "f64"},
    {"nano", {.L = 4, .D = 128, .H = 4, .T = 128, .V = 256}, 2, "f32"},
}};

constexpr std::size_t kMostRanks = 4;

std::size_t knob_combinations(const LessonCard& card) {
  std::size_t combinations = 1;
  for (const Knob& knob : card.knobs)
    combinations *= std::max<std::size_t>(1, knob.judged_with.size());
  return combinations;
}

// Sets the knobs to a combination and returns it in words.
std::string set_knobs(const LessonCard& card, std::size_t index, Settings& knobs) {
  std::string words;
  for (const Knob& knob : card.knobs) {
    if (knob.judged_with.empty()) continue;
    const Setting& setting = knob.judged_with[index % knob.judged_with.size()];
    index /= knob.judged_with.size();
    knobs[knob.name] = setting;
    std::visit([&](const auto& value) { words += fmt::format(", {} {}", knob.name, value); },
               setting);
  }
  return words;
}

// So many ranks fill their nodes: a divisor of their number, another one every time.
std::int64_t ranks_on_a_node(std::int64_t ranks, std::size_t turn) {
  std::vector<std::int64_t> divisors;
  for (std::int64_t k = 1; k <= ranks; ++k)
    if (ranks % k == 0) divisors.push_back(k);
  return divisors[turn % divisors.size()];
}

// The configurations that one small run measures: one per rank. A lesson whose ranks lie on an axis
// runs on one to four of them, and its batch is not always divisible by their number.
std::vector<Configuration> measure(const LessonCard& card, Options options, std::size_t index,
                                   const std::function<void(Run&)>& lesson_main) {
  const std::size_t round = index / kSmallRuns.size();
  const SmallRun& small = kSmallRuns[index % kSmallRuns.size()];
  const std::string name = std::string(small.name) + set_knobs(card, round, options.knobs);
  options.ranks = card.axis ? 1 + static_cast<std::int64_t>((index + round) % kMostRanks) : 1;
  if (options.chips_per_node > 0)
    options.chips_per_node = ranks_on_a_node(options.ranks, index / kMostRanks);
  options.size = small.size;
  options.batch = small.batch + options.ranks - 1;
  options.dtype = small.dtype;
  options.steps = 2;
  options.sample_bytes = 0;
  options.quiet = true;
  options.threads = 1;  // too small to share
  options.launcher = "threads";
  std::vector<Configuration> configurations;
  run_ranks(options, [&](RankStart start) {
    Run run(card, options, std::move(start));
    lesson_main(run);
    run.record_ledgers();
    if (run.world().rank() != 0) return;
    for (std::int64_t rank = 0; rank < options.ranks; ++rank)
      configurations.push_back(configuration_of(
          run.report(),
          card.axis ? fmt::format("{}, rank {} of {}", name, rank, options.ranks) : name,
          letters_of(card, options, rank), rank));
  });
  return configurations;
}

bool has_row(const Sheet& sheet, const std::pair<std::string, std::string>& key) {
  return std::ranges::any_of(sheet.rows, [&](const SheetRow& row) {
    return row.table == key.first && row.name == key.second;
  });
}

// A row that the lesson asks an estimate for is judged at the size of the last configuration, a
// real model's: in the smaller ones, what an estimate leaves out is not small.
void allow_estimates(const LessonCard& card, const Sheet& sheet,
                     const std::vector<Configuration>& configurations,
                     std::vector<JudgedRow>& rows) {
  const std::vector<JudgedRow> at_real_size = judge(sheet, {&configurations.back(), 1});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool may_be_estimated =
        std::ranges::find(card.rows_to_estimate, rows[i].name) != card.rows_to_estimate.end();
    if (may_be_estimated && rows[i].verdict != "exact") rows[i] = at_real_size[i];
  }
}

}  // namespace

ExitCode judge_sheet(const LessonCard& card, const Options& options,
                     const std::function<void(Run&)>& lesson_main) {
  const Sheet sheet = read_sheet(sheet_path(card, options.sheet));
  const Sheet solution = read_sheet(sheet_path(card, "solution"));
  evaluate(sheet, letters_of(card, options));  // a malformed sheet is refused before anything runs
  std::vector<Configuration> configurations;
  for (std::size_t i = 0; i < kSmallRuns.size() * knob_combinations(card); ++i) {
    for (Configuration& configuration : measure(card, options, i, lesson_main)) {
      // What a run measures beyond the course's sheet (losses, for instance) is not for budgets.
      std::erase_if(configuration.measured,
                    [&](const auto& entry) { return !has_row(solution, entry.first); });
      configurations.push_back(std::move(configuration));
    }
  }

  Table table{{{.title = "row", .is_text = true},
               {.title = "your formula", .is_text = true},
               {.title = "verdict", .is_text = true}},
              {}};
  bool all_right = true;
  std::vector<JudgedRow> judged = judge(sheet, configurations);
  if (options.sheet != "solution") allow_estimates(card, sheet, configurations, judged);
  for (const JudgedRow& row : judged) {
    const std::string verdict = row.verdict.value_or("not written yet");
    const bool right = verdict == "exact" || (verdict == "close" && options.sheet != "solution");
    all_right = all_right && right;
    table.rows.push_back(
        {row.name, row.formula,
         right || !row.verdict ? verdict : fmt::format("{} (in {})", verdict, row.configuration)});
  }
  write_text(stdout,
             fmt::format("{}, in {} configurations\n",
                         std::filesystem::proximate(sheet.file).string(), configurations.size()) +
                 format_table(table, style_of(stdout).width));
  return all_right ? ExitCode::ok : ExitCode::check_failed;
}

}  // namespace shardlings
