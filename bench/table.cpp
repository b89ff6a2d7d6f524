// bench_table FILE...          prints what was kept of measurements
// bench_table --readme FOLDER  writes FOLDER/README.md from the files in the folder
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "base/atomic_file.h"
#include "base/check.h"
#include "bench/record.h"
#include "course/table.h"
#include "course/terminal.h"

namespace shardlings {

namespace {

// A column: the member of a record it shows, times `factor`.
struct Field {
  std::string_view title, member;
  int decimals = -1;  // -1: text
  double factor = 1;
};

struct Kind {
  std::string_view name, title;
  std::vector<Field> fields;
};

const std::vector<Kind>& kinds() {
  constexpr double kPercent = 100, kMiB = 1.0 / (1 << 20);
  static const std::vector<Kind> kinds{
      {"machine",
       "What the machine can do",
       {{"threads", "threads", 0},
        {"GHz", "clock_ghz", 2},
        {"f32 GFLOP/s", "peak_f32_gflops", 1},
        {"f64 GFLOP/s", "peak_f64_gflops", 1},
        {"read GB/s", "read_gb_per_s", 1},
        {"copy GB/s", "copy_gb_per_s", 1},
        {"y += x GB/s", "add_into_gb_per_s", 1}}},
      {"step",
       "A training step of lesson 01",
       {{"case", "case"},
        {"dtype", "dtype"},
        {"threads", "threads", 0},
        {"ms", "step_ms", 1},
        {"tokens/s", "tokens_per_second", 0},
        {"GFLOP/s", "gflops", 1},
        {"% of peak", "share_of_peak", 1, kPercent},
        {"products ms", "products_ms", 1},
        {"attention ms", "attention_ms", 1},
        {"rest ms", "rest_ms", 1},
        {"MiB booked", "booked_peak_bytes", 0, kMiB},
        {"resident", "resident_peak_bytes", 0, kMiB}}},
      {"gpu",
       "The same step on a GPU",
       {{"case", "case"},
        {"dtype", "dtype"},
        {"ms", "step_ms", 2},
        {"tokens/s", "tokens_per_second", 0},
        {"GFLOP/s", "gflops", 0},
        {"% of cuBLAS's best", "share_of_peak", 1, kPercent},
        {"MLP product", "product_gflops", 0},
        {"of bf16", "bf16_product_gflops", 0},
        {"attention", "attention_gflops", 0},
        {"MiB booked", "booked_peak_bytes", 0, kMiB}}},
      {"peer",
       "The same step in another program",
       {{"case", "case"},
        {"dtype", "dtype"},
        {"threads", "threads", 0},
        {"ms", "step_ms", 1},
        {"peer", "peer"},
        {"its ms", "peer_step_ms", 1},
        {"its time / ours", "ratio", 2},
        {"MiB resident", "resident_peak_bytes", 0, kMiB},
        {"its MiB", "peer_resident_peak_bytes", 0, kMiB}}},
      {"comm",
       "Communication between processes",
       {{"ranks", "ranks", 0},
        {"all-reduce of 16 floats, us", "all_reduce_16_floats_us", 1},
        {"of 4 MiB, ms", "all_reduce_4_mib_ms", 2},
        {"MPI_Allreduce, ms", "all_reduce_4_mib_library_ms", 2},
        {"its time / ours", "all_reduce_4_mib_gain", 2},
        {"of 16 MiB, ms", "all_reduce_16_mib_ms", 2},
        {"MPI_Allreduce, ms", "all_reduce_16_mib_library_ms", 2},
        {"its time / ours", "all_reduce_16_mib_gain", 2},
        {"one computes on 1 thread, the others wait / sleep", "compute_1_threads_slowdown", 2},
        {"on 2 threads", "compute_2_threads_slowdown", 2}}},
      {"ops",
       "Operations",
       {{"operation", "name"},
        {"ms", "real_time", 3},
        {"GFLOP/s", "GFLOP/s", 1},
        {"GB/s", "GB/s", 1},
        {"% of the best", "share", 1, kPercent}}},
  };
  return kinds;
}

std::string cell(const Record& record, const Field& field) {
  if (find(record, field.member) == nullptr) return "";
  if (field.decimals < 0) return word(record, field.member);
  return fmt::format("{:.{}f}", field.factor * number(record, field.member), field.decimals);
}

Table table_of(const Kind& kind, const std::vector<Record>& records) {
  Table table;
  for (const Field& field : kind.fields)
    table.columns.push_back({std::string(field.title), field.decimals < 0});
  for (const Record& record : records) {
    if (word(record, "kind") != kind.name) continue;
    auto& row = table.rows.emplace_back();
    for (const Field& field : kind.fields) row.push_back(cell(record, field));
  }
  return table;
}

// What Google Benchmark writes, as records of our kind.
std::vector<Record> records_of_ops(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) fail(ExitCode::no_input, "{} cannot be read", file.string());
  const std::string text(std::istreambuf_iterator<char>(in), {});
  const Json json = parse_json(text, file.string());
  const auto& all = std::get<Record>(json.value);
  const auto& context = std::get<Record>(find(all, "context")->value);
  std::vector<Record> records;
  for (const Json& element : std::get<Json::Array>(find(all, "benchmarks")->value)) {
    Record record = std::get<Record>(element.value);
    auto& name = std::get<std::string>(record.front().value.value);
    name = name.substr(0, name.rfind("/real_time"));
    record.push_back({"kind", {"ops"}});
    record.push_back({"cores", *find(context, "num_cpus")});
    for (const char* member : {"processor", "compiler", "date"})
      record.push_back({member, *find(context, member)});
    records.push_back(std::move(record));
  }
  return records;
}

// What bench/gpu.sh writes: an array of records.
std::vector<Record> records_of_gpu(const std::filesystem::path& file) {
  std::ifstream in(file);
  const Json json = parse_json(std::string(std::istreambuf_iterator<char>(in), {}), file.string());
  std::vector<Record> records;
  for (const Json& element : std::get<Json::Array>(json.value))
    records.push_back(std::get<Record>(element.value));
  return records;
}

std::vector<Record> read(const std::filesystem::path& file) {
  if (file.string().ends_with(".gpu.json")) return records_of_gpu(file);
  return file.extension() == ".json" ? records_of_ops(file) : records_in(file);
}

std::string where(const Record& record) {
  return fmt::format("{}, {} cores; {}; {}", word(record, "processor"), number(record, "cores"),
                     word(record, "compiler"), word(record, "date").substr(0, 10));
}

void print(const std::filesystem::path& file) {
  const std::vector<Record> records = read(file);
  for (const Kind& kind : kinds()) {
    const Table table = table_of(kind, records);
    if (!table.rows.empty())
      fmt::print("{} ({})\n{}", kind.title, where(records.front()),
                 format_table(table, style_of(stdout).width));
  }
}

// ---- README.md ----

std::string markdown_row(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

std::string markdown(const Table& table) {
  std::vector<std::string> titles, rules;
  for (const Column& column : table.columns) {
    titles.push_back(column.title);
    rules.push_back(column.is_text ? "---" : "---:");
  }
  std::string text = markdown_row(titles) + markdown_row(rules);
  for (const auto& row : table.rows) text += markdown_row(row);
  return text;
}

std::string readme(const std::filesystem::path& folder) {
  std::map<std::string, std::vector<Record>> files;  // in the order of their names
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension().string().starts_with(".json"))
      files[entry.path().filename()] = read(entry.path());
  std::string text =
      "# Measured\n\nWritten by `./shardlings bench --save NAME` from the files beside it;"
      " CONTRIBUTING.md says\nwhat is measured.\n";
  for (const auto& [name, records] : files)
    for (const Kind& kind : kinds()) {
      const Table table = table_of(kind, records);
      if (!table.rows.empty())
        text += fmt::format("\n## {}\n\n`{}`: {}\n\n{}", kind.title, name, where(records.front()),
                            markdown(table));
    }
  return text;
}

}  // namespace

}  // namespace shardlings

int main(int count, char** words) {
  try {
    using namespace shardlings;
    const std::vector<std::string> arguments(words + 1, words + count);
    if (arguments.size() == 2 && arguments[0] == "--readme")
      write_file_atomically(arguments[1] + "/README.md", readme(arguments[1]));
    else
      for (const std::string& file : arguments) print(file);
    return 0;
  } catch (const shardlings::Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return static_cast<int>(error.code());
  }
}
