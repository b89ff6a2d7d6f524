#include "bench/record.h"

#include <chrono>
#include <fstream>
#include <thread>

#include <fmt/chrono.h>

#include "base/check.h"

namespace shardlings {

namespace {

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

[[noreturn]] void fail_without(std::string_view name, const Record& record) {
  fail(ExitCode::bad_data, "no \"{}\" of the right type in {}", name, excerpt({record}));
}

}  // namespace

Record new_record(std::string_view kind) {
  return {
      {"kind", {std::string(kind)}},
      {"processor", {processor()}},
      {"cores", {std::int64_t{std::thread::hardware_concurrency()}}},
      {"compiler", {COMPILER}},
      {"date", {fmt::format("{:%Y-%m-%d}", std::chrono::system_clock::now())}},
  };
}

void keep(const std::filesystem::path& file, const Record& record) {
  std::ofstream out(file, std::ios::app);
  out << json_text({record}) << std::endl;
  if (!out) fail(ExitCode::io, "{} cannot be written", file.string());
}

std::vector<Record> records_in(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) fail(ExitCode::no_input, "{} cannot be read", file.string());
  std::vector<Record> records;
  for (std::string line; std::getline(in, line);) {
    Json json = parse_json(line, file.string());
    auto* record = std::get_if<Record>(&json.value);
    if (record == nullptr)
      fail(ExitCode::bad_data, "{}: a line is no object: {}", file.string(), excerpt(json));
    records.push_back(std::move(*record));
  }
  return records;
}

std::string word(const Record& record, std::string_view name) {
  const Json* json = find(record, name);
  if (json != nullptr)
    if (const auto* text = std::get_if<std::string>(&json->value)) return *text;
  fail_without(name, record);
}

double number(const Record& record, std::string_view name) {
  if (const Json* json = find(record, name)) {
    if (const auto* decimal = std::get_if<double>(&json->value)) return *decimal;
    if (const auto* whole = std::get_if<std::int64_t>(&json->value))
      return static_cast<double>(*whole);
  }
  fail_without(name, record);
}

}  // namespace shardlings
