#include "tools/slides/golden.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/units.h"

namespace shardlings {

namespace {

using Json = nlohmann::ordered_json;

// ---- formats

std::int64_t as_whole(double value, std::string_view format) {
  if (std::trunc(value) != value || std::abs(value) > 0x1p53)
    fail(ExitCode::bad_data, "{} is no whole number, which \"as {}\" needs", value, format);
  return static_cast<std::int64_t>(value);
}

std::string as_bytes(double value) {
  return format_bytes(as_whole(value, "bytes"));
}

std::string as_count(double value) {
  return format_count(as_whole(value, "count"));
}

// Three digits: 0.343, 12.5, 842, 5.84·10⁹.
std::string as_number(double value) {
  const std::string text = fmt::format("{:.3g}", value);
  const std::size_t e = text.find('e');
  if (e == text.npos) return text;
  static constexpr std::string_view kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string exponent;
  for (const char c :
       std::to_string(parse_integer(text.substr(text[e + 1] == '+' ? e + 2 : e + 1), "exponent")))
    exponent += c == '-' ? "⁻" : kDigits[c - '0'];
  return text.substr(0, e) + "·10" + exponent;
}

std::string as_percent(double share) {
  const double percent = 100 * share;
  return fmt::format("{:.{}f}%", percent, std::abs(percent) < 9.95 ? 1 : 0);
}

constexpr std::pair<std::string_view, std::string (*)(double)> kFormats[] = {
    {"bytes", as_bytes}, {"count", as_count}, {"number", as_number}, {"percent", as_percent}};

// ---- paths

// "memory.0.rows[the name].bytes" -> memory, 0, rows, [the name, bytes
std::vector<std::string> steps_of(std::string_view path) {
  std::vector<std::string> steps(1);
  bool in_brackets = false;
  for (const char c : path) {
    if (!in_brackets && (c == '.' || c == '[')) steps.emplace_back();
    in_brackets = in_brackets ? c != ']' : c == '[';
    if (in_brackets || (c != '.' && c != ']')) steps.back() += c;
  }
  return steps;
}

std::string name_of_row(const Json& row) {
  const auto text = [&](const char* member) { return row.value(member, std::string()); };
  if (row.contains("name")) return text("name");
  if (row.contains("owner")) return text("owner");
  return text("axis") + ' ' + text("operation") + ' ' + text("what");
}

// What may follow at this place in a path: members, indices, and "[" with the name of a row.
std::map<std::string, const Json*> children_of(const Json& here) {
  std::map<std::string, const Json*> children;
  if (!here.is_structured()) return children;
  for (const auto& [key, value] : here.items()) {
    children.emplace(key, &value);
    if (here.is_array() && value.is_object()) children.emplace('[' + name_of_row(value), &value);
  }
  return children;
}

std::string step_text(const std::string& step) {
  return step.starts_with('[') ? step + ']' : step;
}

const Json& value_at(const Json& report, std::string_view path) {
  const Json* here = &report;
  for (const std::string& step : steps_of(path)) {
    const auto children = children_of(*here);
    const auto child = children.find(step);
    if (child == children.end()) {
      std::string there;
      for (const auto& [word, value] : children)
        there += (there.empty() ? "" : ", ") + step_text(word);
      fail(ExitCode::bad_data, "{}: there is no {} but {}", path, step_text(step),
           there.empty() ? "a single value" : there);
    }
    here = child->second;
  }
  return *here;
}

double number_at(const Json& report, const std::string& path) {
  const Json& value = value_at(report, path);
  if (!value.is_number())
    fail(ExitCode::bad_data, "{}: expected a number, got {}", path, value.dump());
  return value.get<double>();
}

// ---- requests

struct Request {
  std::string report = {}, path = {}, divisor = {}, format = {};
};

// Words end at spaces outside brackets.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  bool in_brackets = false, in_word = false;
  for (const char c : text) {
    if (c == '[' || c == ']') in_brackets = c == '[';
    const bool ends = c == ' ' && !in_brackets;
    if (!ends && !in_word) words.emplace_back();
    in_word = !ends;
    if (in_word) words.back() += c;
  }
  return words;
}

Request parse_request(std::string_view text, std::string_view own_report) {
  Request request{.report = std::string(own_report)};
  std::vector<std::string> words = words_of(text);
  const auto take_after = [&](std::string_view keyword, std::string& value) {
    if (words.size() < 2 || words[words.size() - 2] != keyword) return;
    value = words.back();
    words.resize(words.size() - 2);
  };
  take_after("as", request.format);
  take_after("of", request.divisor);
  if (words.size() == 2) {
    request.report = words[0];
    words.erase(words.begin());
  }
  if (words.size() != 1)
    fail(ExitCode::bad_data,
         "expected {{{{golden [NAME] PATH [of PATH] [as FORMAT]}}}}, got \"{}\"", text);
  request.path = words[0];
  return request;
}

std::string shown(const Request& request, const Json& report) {
  if (request.format.empty()) {
    const Json& value = value_at(report, request.path);
    if (!value.is_string() || !request.divisor.empty())
      fail(ExitCode::bad_data, "{} is no text: add \"as bytes\", count, number or percent",
           request.path);
    return value.get<std::string>();
  }
  double value = number_at(report, request.path);
  if (!request.divisor.empty()) value /= number_at(report, request.divisor);
  if (!std::isfinite(value)) fail(ExitCode::bad_data, "{} is 0", request.divisor);
  for (const auto& [name, format] : kFormats)
    if (name == request.format) return format(value);
  fail(ExitCode::bad_data, "\"as {}\": expected bytes, count, number or percent", request.format);
}

std::string golden_text(const Request& request, Sources& sources) {
  const std::filesystem::path path = "tests/golden/" + request.report + ".json";
  const Json report = Json::parse(sources.read(path), nullptr, false);
  if (report.is_discarded()) fail(ExitCode::bad_data, "{} is not JSON", path.string());
  return at(path.string(), [&] { return shown(request, report); });
}

}  // namespace

std::string with_golden_numbers(std::string_view line, std::string_view own_report,
                                Sources& sources) {
  constexpr std::string_view kOpen = "{{", kKeyword = "golden ", kClose = "}}";
  std::string text;
  for (std::size_t begin = 0; (begin = line.find(kOpen)) != line.npos;) {
    const std::size_t end = line.find(kClose, begin);
    std::string_view inside = line.substr(begin, end - begin);
    inside.remove_prefix(kOpen.size());
    if (end == line.npos || !inside.starts_with(kKeyword))
      fail(ExitCode::bad_data, "expected {{{{golden ...}}}}, got \"{}\"", line.substr(begin));
    inside.remove_prefix(kKeyword.size());
    text += line.substr(0, begin);
    text += golden_text(parse_request(inside, own_report), sources);
    line.remove_prefix(end + kClose.size());
  }
  return text.append(line);
}

}  // namespace shardlings
