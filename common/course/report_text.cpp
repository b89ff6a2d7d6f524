#include <fmt/format.h>

#include <cmath>

#include "base/units.h"
#include "course/report.h"
#include "course/table.h"

namespace shardlings {

namespace {

constexpr std::size_t kOwnersShown = 8;

Column text_column(std::string title) {
  return {.title = std::move(title), .is_text = true};
}

Column number_column(std::string title) {
  return {.title = std::move(title), .is_text = false};
}

// 1234567 -> "1,234,567"; 28.5 -> "28.5".
std::string amount(double value) {
  if (std::abs(value) < 0x1p53 && std::trunc(value) == value)
    return format_count(static_cast<std::int64_t>(value));
  return fmt::format("{:.6g}", value);
}

template <class T>
std::string amount(const std::optional<T>& value) {
  return value ? amount(static_cast<double>(*value)) : "";
}

std::string section(const TextStyle& style, std::string_view title, const std::string& body) {
  return body.empty() ? "" : painted(style, Colour::bold, title) + '\n' + body + '\n';
}

std::string memory_text(const MemoryTier& tier, const TextStyle& style) {
  if (tier.peak_bytes == 0) return "";
  Table rows{{text_column("row"), text_column("formula"), number_column("budget"),
              number_column("measured"), text_column("verdict")},
             {}};
  for (const MemoryRow& row : tier.rows)
    if (row.peak_bytes > 0 || row.formula)
      rows.rows.push_back({row.name, row.formula.value_or(""),
                           row.formula ? amount(row.budget_bytes) : "",
                           format_count(row.peak_bytes), row.verdict.value_or("")});
  Table owners{{text_column("owner"), number_column("bytes")}, {}};
  for (const Owner& owner : tier.owners_at_peak) {
    if (owners.rows.size() == kOwnersShown) break;
    owners.rows.push_back({owner.owner, format_count(owner.bytes)});
  }
  const std::string peak =
      fmt::format("{} memory, each row at its peak; all together {} bytes ({})", tier.tier,
                  format_count(tier.peak_bytes), format_bytes(tier.peak_bytes));
  return section(style, peak, format_table(rows, style.width)) +
         section(style, fmt::format("largest owners at the {} peak", tier.tier),
                 format_table(owners, style.width));
}

// Rows with a formula, and below them what was measured besides.
std::string counts_text(const Counts& counts, const TextStyle& style) {
  Table budgeted{{text_column("row"), text_column("formula"), number_column("budget"),
                  number_column("measured"), text_column("verdict")},
                 {}};
  Table others{{text_column("measured"), number_column("value"), text_column("unit")}, {}};
  for (const CountRow& row : counts.rows) {
    if (row.formula)
      budgeted.rows.push_back({row.name, *row.formula, amount(row.budget), amount(row.measured),
                               row.verdict.value_or("")});
    else
      others.rows.push_back({row.name, amount(row.measured), row.unit});
  }
  return section(style, "counts", format_table(budgeted, style.width)) +
         section(style, "also", format_table(others, style.width));
}

std::string traffic_text(const Report& report, const TextStyle& style) {
  if (report.traffic.empty()) return "";
  Table table{
      {text_column("row"), text_column("formula"), number_column("budget"), number_column("sent"),
       number_column("calls"), number_column("messages"), text_column("verdict")},
      {}};
  for (const TrafficRow& row : report.traffic.front().rows)
    table.rows.push_back({fmt::format("{} {} {}", row.axis, row.operation, row.what),
                          row.formula.value_or(""), row.formula ? amount(row.budget_bytes) : "",
                          format_count(row.sent_bytes), format_count(row.calls),
                          format_count(row.messages), row.verdict.value_or("")});
  return section(style, "traffic, bytes that rank 0 sends per step",
                 format_table(table, style.width));
}

std::string clock_text(const Report& report, const TextStyle& style) {
  if (!report.clock) return "";
  const ClockReport& clock = *report.clock;
  // A lesson that trains no model has neither FLOPs nor tokens.
  const std::string mfu = clock.mfu > 0 ? fmt::format(" · MFU {:.1f} %", 100 * clock.mfu) : "";
  return section(style, fmt::format("modelled clock ({})", clock.cluster),
                 fmt::format("  step {:.4g} ms{}\n"
                             "  compute {:.4g} + exposed communication {:.4g} + bubble {:.4g}\n",
                             clock.step_ms, mfu, clock.compute_ms, clock.exposed_communication_ms,
                             clock.bubble_ms));
}

std::string checks_text(const Report& report, const TextStyle& style) {
  Table table{
      {text_column("check"), number_column("value"), number_column("limit"), text_column("result")},
      {}};
  for (const CheckResult& check : report.checks)
    table.rows.push_back({check.name, fmt::format("{:.4g}", check.value),
                          fmt::format("{:.4g}", check.limit),
                          check.passed ? painted(style, Colour::green, "passed")
                                       : painted(style, Colour::red, "FAILED")});
  return section(style, "checks", format_table(table, style.width));
}

// "trade against 10: memory -1.5 MiB, sent +3.2 MiB, ..."; more is "+".
std::string trade_text(const Report& report, const TextStyle& style) {
  if (!report.trade) return "";
  const Trade& trade = *report.trade;
  std::string parts;
  const auto add = [&](std::string_view what, const std::string& change) {
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", what, change);
  };
  const auto bytes = [](std::int64_t change) {
    return fmt::format("{}{}", change < 0 ? '-' : '+', format_bytes(std::abs(change)));
  };
  if (trade.memory_bytes) add("memory", bytes(*trade.memory_bytes));
  if (trade.sent_bytes) add("sent", bytes(*trade.sent_bytes));
  if (trade.flops) add("FLOPs", fmt::format("{:+.3g}", *trade.flops));
  if (trade.exposed_ms) add("exposed communication", fmt::format("{:+.3g} ms", *trade.exposed_ms));
  if (trade.bubble_ms) add("bubble", fmt::format("{:+.3g} ms", *trade.bubble_ms));
  return section(style, "the trade against lesson " + trade.against, "  " + parts + "\n");
}

std::string wall_text(const Report& report, const TextStyle& style) {
  if (!report.wall) return "";
  const double rate = report.wall->tokens_per_second;
  const std::string tokens =
      rate > 0 ? fmt::format(" · {} tokens/s", format_count(std::llround(rate))) : "";
  return section(style, "wall time (this machine, now: never checked)",
                 fmt::format("  step {:.1f} ms (median){}\n", report.wall->step_ms_median, tokens));
}

std::string plural(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string outcome(const Report& report) {
  if (report.ending == Ending::stopped)
    return fmt::format("stopped after {} of {}", report.losses.size(),
                       plural(report.steps, "step"));
  if (report.ending == Ending::broken)
    return fmt::format("training BROKE at step {}", report.losses.size());
  const Misses off = misses(report);
  std::string text;
  if (off.checks > 0) text = plural(off.checks, "check") + " FAILED";
  if (off.rows > 0) text += (text.empty() ? "" : ", ") + plural(off.rows, "budget row") + " OFF";
  return text.empty() ? "all checks passed" : text;
}

}  // namespace

std::string report_text(const Report& report, const TextStyle& style) {
  std::string text;
  if (!report.memory.empty())
    for (const MemoryTier& tier : report.memory.front()) text += memory_text(tier, style);
  text += traffic_text(report, style);
  if (!report.counts.empty()) text += counts_text(report.counts.front(), style);
  text += clock_text(report, style);
  return text + checks_text(report, style) + wall_text(report, style) + trade_text(report, style);
}

std::string summary_line(const Report& report, const std::filesystem::path& path,
                         const TextStyle& style) {
  std::string lesson = report.lesson;
  if (const std::size_t bar = lesson.find('_'); bar != std::string::npos) lesson[bar] = ' ';
  const Colour colour = verdict(report) == "passed" ? Colour::green : Colour::red;
  return fmt::format("lesson {}: {} · report {}", lesson, painted(style, colour, outcome(report)),
                     path.string());
}

}  // namespace shardlings
