#include <algorithm>
#include <cmath>
#include <concepts>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "course/report.h"

namespace shardlings {

namespace {

using Json = nlohmann::ordered_json;

// Schema 1, member by member. Writing and reading both go through these lists, with the report
// const or not. Every member is written, null where there is nothing, and every member must be
// there.
template <class T, class Struct>
concept Is = std::same_as<std::remove_const_t<T>, Struct>;

void members(auto& visit, Is<ReportModel> auto& model) {
  visit("L", model.size.L);
  visit("D", model.size.D);
  visit("H", model.size.H);
  visit("T", model.size.T);
  visit("V", model.size.V);
  visit("P", model.P);
}

void members(auto& visit, Is<Mesh> auto& mesh) {
  visit("dp", mesh.dp);
  visit("tp", mesh.tp);
  visit("pp", mesh.pp);
  visit("cp", mesh.cp);
  visit("ep", mesh.ep);
}

void members(auto& visit, Is<MemoryRow> auto& row) {
  visit("name", row.name);
  visit("formula", row.formula);
  visit("budget_bytes", row.budget_bytes);
  visit("peak_bytes", row.peak_bytes);
  visit("at_peak_bytes", row.at_peak_bytes);
  visit("verdict", row.verdict);
}

void members(auto& visit, Is<Owner> auto& owner) {
  visit("owner", owner.owner);
  visit("bytes", owner.bytes);
}

void members(auto& visit, Is<MemoryTier> auto& tier) {
  visit("tier", tier.tier);
  visit("peak_bytes", tier.peak_bytes);
  visit("rows", tier.rows);
  visit("owners_at_peak", tier.owners_at_peak);
}

void members(auto& visit, Is<CountRow> auto& row) {
  visit("name", row.name);
  visit("unit", row.unit);
  visit("formula", row.formula);
  visit("budget", row.budget);
  visit("measured", row.measured);
  visit("verdict", row.verdict);
}

void members(auto& visit, Is<Counts> auto& counts) {
  visit("rows", counts.rows);
}

void members(auto& visit, Is<TrafficRow> auto& row) {
  visit("axis", row.axis);
  visit("operation", row.operation);
  visit("what", row.what);
  visit("formula", row.formula);
  visit("budget_bytes", row.budget_bytes);
  visit("calls", row.calls);
  visit("messages", row.messages);
  visit("payload_bytes", row.payload_bytes);
  visit("sent_bytes", row.sent_bytes);
  visit("link", row.link);
  visit("verdict", row.verdict);
}

void members(auto& visit, Is<TrafficReport> auto& traffic) {
  visit("rows", traffic.rows);
}

void members(auto& visit, Is<Trade> auto& trade) {
  visit("against", trade.against);
  visit("memory_bytes", trade.memory_bytes);
  visit("sent_bytes", trade.sent_bytes);
  visit("flops", trade.flops);
  visit("exposed_ms", trade.exposed_ms);
  visit("bubble_ms", trade.bubble_ms);
}

void members(auto& visit, Is<ClockReport> auto& clock) {
  visit("cluster", clock.cluster);
  visit("step_ms", clock.step_ms);
  visit("compute_ms", clock.compute_ms);
  visit("exposed_communication_ms", clock.exposed_communication_ms);
  visit("bubble_ms", clock.bubble_ms);
  visit("mfu", clock.mfu);
}

void members(auto& visit, Is<Wall> auto& wall) {
  visit("step_ms_median", wall.step_ms_median);
  visit("tokens_per_second", wall.tokens_per_second);
}

void members(auto& visit, Is<CheckResult> auto& check) {
  visit("name", check.name);
  visit("passed", check.passed);
  visit("value", check.value);
  visit("limit", check.limit);
}

void members(auto& visit, Is<Report> auto& report) {
  visit("lesson", report.lesson);
  visit("backend", report.backend);
  visit("launcher", report.launcher);
  visit("ranks", report.ranks);
  visit("dtype", report.dtype);
  visit("policy", report.policy);
  visit("seed", report.seed);
  visit("steps", report.steps);
  visit("model", report.model);
  visit("mesh", report.mesh);
  visit("knobs", report.knobs);
  visit("losses", report.losses);
  visit("gradient_norms", report.gradient_norms);
  visit("entropy_floor", report.entropy_floor);
  visit("memory", report.memory);
  visit("counts", report.counts);
  visit("traffic", report.traffic);
  visit("trade", report.trade);
  visit("clock", report.clock);
  visit("wall", report.wall);
  visit("checks", report.checks);
}

// --- writing -----------------------------------------------------------------------------------

struct Writer {
  Json json = Json::object();

  void operator()(const char* name, const auto& value) { json[name] = to_json(value); }

  static Json to_json(bool value) { return value; }
  static Json to_json(std::int64_t value) { return value; }
  static Json to_json(const std::string& value) { return value; }

  // Whole values without ".0": they are bytes and counts.
  static Json to_json(double value) {
    if (!std::isfinite(value)) return nullptr;
    if (std::trunc(value) == value && std::abs(value) < 0x1p53)
      return static_cast<std::int64_t>(value);
    return value;
  }

  // Here ".0" says that the setting is a decimal number.
  static Json to_json(const Setting& setting) {
    return std::visit([](const auto& value) { return Json(value); }, setting);
  }

  static Json to_json(const Settings& settings) {
    Json object = Json::object();
    for (const auto& [name, setting] : settings) object[name] = to_json(setting);
    return object;
  }

  template <class T>
  static Json to_json(const std::optional<T>& value) {
    return value ? to_json(*value) : Json(nullptr);
  }

  template <class T>
  static Json to_json(const std::vector<T>& values) {
    Json array = Json::array();
    for (const T& value : values) array.push_back(to_json(value));
    return array;
  }

  template <class Struct>
  static Json to_json(const Struct& value) {
    Writer writer;
    members(writer, value);
    return std::move(writer.json);
  }
};

// Text that people can read, search and compare: what holds no further structure is one line.
std::string layout(const Json& json, std::size_t indent) {
  const auto dump = [](const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  if (std::ranges::none_of(json, [](const Json& part) { return part.is_structured(); }))
    return dump(json);
  const std::string start(indent + 2, ' ');
  std::string text;
  for (const auto& [name, value] : json.items())
    text += (text.empty() ? "\n" : ",\n") + start + (json.is_object() ? dump(name) + ": " : "") +
            layout(value, indent + 2);
  const std::string end = '\n' + std::string(indent, ' ');
  return json.is_object() ? '{' + text + end + '}' : '[' + text + end + ']';
}

// --- reading -----------------------------------------------------------------------------------

struct Reader {
  const Json& json;

  template <class T>
  void operator()(const char* name, T& value) {
    const auto member = json.find(name);
    if (member == json.end()) fail(ExitCode::bad_data, "the report has no member \"{}\"", name);
    from_json(*member, value, name);
  }

  static void expect(bool holds, const char* name, const char* what) {
    if (!holds) fail(ExitCode::bad_data, "the report's member \"{}\" is not {}", name, what);
  }

  static void from_json(const Json& from, bool& value, const char* name) {
    expect(from.is_boolean(), name, "true or false");
    value = from.get<bool>();
  }

  static void from_json(const Json& from, std::int64_t& value, const char* name) {
    expect(from.is_number_integer(), name, "a whole number");
    value = from.get<std::int64_t>();
  }

  static void from_json(const Json& from, std::string& value, const char* name) {
    expect(from.is_string(), name, "a string");
    value = from.get<std::string>();
  }

  static void from_json(const Json& from, double& value, const char* name) {
    expect(from.is_number() || from.is_null(), name, "a number");
    value = from.is_null() ? std::nan("") : from.get<double>();
  }

  static void from_json(const Json& from, Settings& settings, const char* name) {
    expect(from.is_object(), name, "an object");
    for (const auto& [key, value] : from.items()) {
      if (value.is_string())
        settings[key] = value.get<std::string>();
      else if (value.is_number_integer())
        settings[key] = value.get<std::int64_t>();
      else
        from_json(value, settings[key].emplace<double>(), name);
    }
  }

  template <class T>
  static void from_json(const Json& from, std::optional<T>& value, const char* name) {
    if (!from.is_null()) from_json(from, value.emplace(), name);
  }

  template <class T>
  static void from_json(const Json& from, std::vector<T>& values, const char* name) {
    expect(from.is_array(), name, "an array");
    for (const Json& element : from) from_json(element, values.emplace_back(), name);
  }

  template <class Struct>
  static void from_json(const Json& from, Struct& value, const char* name) {
    expect(from.is_object(), name, "an object");
    Reader reader{from};
    members(reader, value);
  }
};

}  // namespace

std::string report_to_json(const Report& report) {
  Json json = Json::object();
  json["schema"] = 1;
  json.update(Writer::to_json(report));
  json["verdict"] = verdict(report);
  return layout(json, 0) + '\n';
}

Report report_from_json(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) fail(ExitCode::bad_data, "the report is not a JSON object");
  Reader reader{json};
  std::int64_t schema = 0;
  reader("schema", schema);
  if (schema != 1) fail(ExitCode::bad_data, "the report has schema {}, not 1", schema);
  Report report;
  members(reader, report);
  std::string outcome;
  reader("verdict", outcome);
  if (outcome == "stopped") report.ending = Ending::stopped;
  if (outcome == "broken") report.ending = Ending::broken;
  return report;
}

}  // namespace shardlings
