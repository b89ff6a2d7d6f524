#include "course/hand_budget.h"

#include <algorithm>
#include <cmath>

#include "course/world.h"

namespace shardlings {

namespace {

std::string name_of(const TrafficRow& row) {
  return fmt::format("{} {} {}", row.axis, row.operation, row.what);
}

// What the budget of a row of traffic is compared with.
double sent_bytes(const Report& report, const TrafficRow& row) {
  if (row.operation == "send") return static_cast<double>(row.sent_bytes);
  std::int64_t all = 0;
  for (const TrafficReport& traffic : report.traffic)
    for (const TrafficRow& other : traffic.rows)
      if (name_of(other) == name_of(row)) all += other.sent_bytes;
  return static_cast<double>(all) / static_cast<double>(report.traffic.size());
}

// Calls visit(table, row name, measured, row) for everything a sheet may have a row for. Memory
// rows are those of the device.
template <class R, class Visit>
void visit_rows(R& report, std::int64_t rank, const Visit& visit) {
  const auto r = static_cast<std::size_t>(rank);
  if (r < report.memory.size())
    for (auto& row : report.memory[r].front().rows) visit("memory", row.name, row.peak_bytes, row);
  if (r < report.traffic.size())
    for (auto& row : report.traffic[r].rows)
      visit("traffic", name_of(row), sent_bytes(report, row), row);
  if (r < report.counts.size())
    for (auto& row : report.counts[r].rows) visit("counts", row.name, row.measured, row);
}

void set_budget(MemoryRow& row, std::optional<double> value) {
  row.budget_bytes = value;
}
void set_budget(CountRow& row, std::optional<double> value) {
  row.budget = value;
}
void set_budget(TrafficRow& row, std::optional<double> value) {
  row.budget_bytes = value;
}

// What a sheet expects and nobody sent has a row of its own, as it would have if it had been sent:
// a rank alone sends nothing, and neither does a call that was forgotten.
void add_unsent(Report& report, const Sheet& sheet) {
  const auto is_traffic = [](const SheetRow& row) { return row.table == "traffic"; };
  if (std::ranges::none_of(sheet.rows, is_traffic)) return;
  report.traffic.resize(static_cast<std::size_t>(report.ranks));
  for (TrafficReport& traffic : report.traffic)
    for (const SheetRow& row : sheet.rows) {
      const std::size_t axis = row.name.find(' '), operation = row.name.find(' ', axis + 1);
      const auto is_this = [&](const TrafficRow& other) { return name_of(other) == row.name; };
      if (!is_traffic(row) || operation == row.name.npos ||
          std::ranges::any_of(traffic.rows, is_this))
        continue;
      traffic.rows.push_back({.axis = row.name.substr(0, axis),
                              .operation = row.name.substr(axis + 1, operation - axis - 1),
                              .what = row.name.substr(operation + 1)});
    }
}

std::filesystem::path sheet_in(std::string_view folder, std::string_view lesson) {
  return std::filesystem::path(SHARDLINGS_SOURCE_FOLDER) / folder / lesson / "budget.toml";
}

}  // namespace

std::filesystem::path sheet_path(const LessonCard& card, const std::string& choice) {
  if (choice == "mine") return sheet_in("exercises", lesson_folder(card));
  if (choice == "solution") return sheet_in("solutions", lesson_folder(card));
  return choice;
}

Values letters_of(const LessonCard& card, const Options& options, std::int64_t rank) {
  Values values = letters(options.size, options.batch, options.dtype);
  for (const Knob& knob : card.knobs) {
    const Setting& setting = options.knobs.at(knob.name);
    const std::string letter = knob.letter.empty() ? knob.name : std::string(knob.letter);
    if (const auto* whole = std::get_if<std::int64_t>(&setting))
      values[letter] = static_cast<double>(*whole);
    if (const auto* decimal = std::get_if<double>(&setting)) values[letter] = *decimal;
    for (const std::string_view word : knob.allowed)
      values[std::string(word)] = setting == Setting(std::string(word)) ? 1 : 0;
  }
  values["n"] = static_cast<double>(options.ranks);
  values["rank"] = static_cast<double>(rank);
  if (card.axis) values[std::string(name_of(*card.axis))] = static_cast<double>(options.ranks);
  if (card.axis && !options.cluster.empty()) {
    const Cluster cluster = cluster_of(options);
    values["k"] = static_cast<double>(std::min(options.ranks, cluster.chips_per_node));
    values["alpha_inside"] = cluster.inside.latency;
    values["beta_inside"] = cluster.inside.bandwidth;
    values["alpha_between"] = cluster.between.latency;
    values["beta_between"] = cluster.between.bandwidth;
  }
  values["B"] = std::ceil(values["batch"] / values["M"]);  // of the largest micro-batch
  for (const std::string_view letter : card.letters_to_find) values.erase(std::string(letter));
  return values;
}

Configuration configuration_of(const Report& report, std::string name, const Values& letters,
                               std::int64_t rank) {
  Configuration configuration{std::move(name), letters, {}};
  visit_rows(report, rank,
             [&](const char* table, const std::string& row_name, auto measured, auto&) {
               configuration.measured[{table, row_name}] = static_cast<double>(measured);
             });
  configuration.measured[{"let", "P"}] = static_cast<double>(report.model.P);
  return configuration;
}

void add_budget(Report& report, const Sheet& sheet, const LessonCard& card,
                const Options& options) {
  add_unsent(report, sheet);
  for (std::int64_t rank = 0; rank < report.ranks; ++rank) {
    const Values letters = letters_of(card, options, rank);
    const std::vector<BudgetRow> budget = evaluate(sheet, letters);
    const Configuration configuration = configuration_of(report, "this run", letters, rank);
    const std::vector<JudgedRow> judged = judge(sheet, {&configuration, 1});
    visit_rows(report, rank, [&](const char* table, const std::string& name, auto, auto& row) {
      const auto is_this = [&](const auto& other) {
        return other.table == table && other.name == name;
      };
      const auto found = std::ranges::find_if(budget, is_this);
      if (found == budget.end()) return;
      row.formula = found->formula;
      set_budget(row, found->value);
      row.verdict = std::ranges::find_if(judged, is_this)->verdict;
    });
  }
}

Trade trade_against(const Baseline& baseline, const Report& report, const Values& letters) {
  const Sheet sheet = read_sheet(sheet_in("solutions", baseline.folder));
  Values there = letters;
  for (const auto& [letter, formula] : baseline.letters)
    there[letter] = Formula(formula).value(letters);
  for (const SheetRow& row : sheet.rows)
    if (row.table == "let") there.erase(row.name);

  const Configuration here = configuration_of(report, "this run", letters);
  const std::vector<BudgetRow> rows = evaluate(sheet, there);
  const auto change = [&](const std::string& table, const std::string& name) {
    std::optional<double> difference;
    for (const BudgetRow& row : rows)
      if (row.table == table && row.name == name)
        difference = here.measured.at({table, name}) - row.value.value();
    return difference;
  };
  Trade trade{.against = std::string(baseline.folder)};
  if (const auto bytes = change("memory", "model_and_activations"))
    trade.memory_bytes = std::llround(*bytes);
  trade.flops = change("counts", "executed FLOPs per step");
  if (report.traffic.empty()) return trade;
  double sent = 0;
  for (const auto& [row, measured] : here.measured)
    if (row.first == "traffic") sent += measured;
  bool others_send = false;
  for (const BudgetRow& row : rows) {
    if (row.table != "traffic") continue;
    sent -= row.value.value();
    others_send = true;
  }
  trade.sent_bytes = std::llround(sent);
  // What the other lesson exposes of its own, its sheet does not say.
  if (report.clock && !others_send) trade.exposed_ms = report.clock->exposed_communication_ms;
  return trade;
}

}  // namespace shardlings
