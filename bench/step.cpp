// bench_step CASE [options]: the time of lesson 01's training step, and where it goes.
//
//   --dtype f32|f64   --threads N   --steps N
//   --backend cpu|cuda|cuda-tf32   on a GPU, held against what cuBLAS reaches there
//   --export DIR      writes the initial weights as a GPT-2 checkpoint, for another program
//   --record FILE     adds a record to the file
#include <sys/resource.h>

#include <algorithm>

#include "base/check.h"
#include "base/units.h"
#include "bench/machine.h"
#include "bench/rates.h"
#include "bench/record.h"
#include "bench/training.h"
#include "course/world.h"

namespace shardlings::lesson01 {

namespace {

struct Settings {
  Case what;
  DType dtype = DType::f32;
  Backend backend = {};
  std::int64_t steps = 20;
  std::string export_to = {}, record = {};

  bool on_gpu() const { return backend.name != "cpu"; }
};

std::int64_t parse_count(const std::string& option, const std::string& value, std::int64_t most) {
  const std::int64_t count = parse_integer(value, option);
  if (count < 1 || count > most)
    fail(ExitCode::usage, "{}: expected 1 to {}, got {}", option, most, value);
  return count;
}

void set_backend(Backend& backend, const std::string& value) {
  if (value != "cpu" && value != "cuda" && value != "cuda-tf32")
    fail(ExitCode::usage, "--backend: expected cpu, cuda or cuda-tf32, got {}", value);
  backend.tf32 = value == "cuda-tf32";
  backend.name = value.substr(0, value.find('-'));
}

Settings parse(const std::vector<std::string>& words) {
  if (words.size() % 2 == 0)
    fail(ExitCode::usage, "bench_step takes a case, then pairs of option and value");
  Settings settings{.what = case_named(words[0])};
  for (std::size_t i = 1; i < words.size(); i += 2) {
    const std::string &option = words[i], &value = words[i + 1];
    if (option == "--dtype")
      settings.dtype = dtype_named(value);
    else if (option == "--threads")
      settings.backend.threads = static_cast<int>(parse_count(option, value, 4096));
    else if (option == "--backend")
      set_backend(settings.backend, value);
    else if (option == "--steps")
      settings.steps = parse_count(option, value, 1'000'000);
    else if (option == "--export")
      settings.export_to = value;
    else if (option == "--record")
      settings.record = value;
    else
      fail(ExitCode::usage, "bench_step does not know {}", option);
  }
  return settings;
}

std::int64_t resident_peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

struct Measured {
  std::vector<StepTime> steps;    // the shortest first
  double peak = 0, clock_hz = 0;  // the best FLOPs and cycles per second around them
  std::int64_t flops = 0, page_faults = 0;

  // One of the steps, so that its parts add up to it.
  const StepTime& median() const { return steps[steps.size() / 2]; }
};

Measured measure(Training& training, const Settings& settings) {
  Measured m;
  const auto measure_limits = [&] {
    if (settings.on_gpu()) {
      constexpr std::int64_t kLarge = 4096;
      m.peak =
          std::max(m.peak, product_rate(training.device(), settings.dtype, kLarge, kLarge, kLarge));
    } else {
      m.peak = std::max(m.peak, multiply_add_rate(settings.dtype, settings.backend.threads));
      m.clock_hz = std::max(m.clock_hz, clock_rate());
    }
  };
  for (int i = 0; i < 2; ++i) training.step();  // the first steps ask the system for memory
  const std::int64_t flops_before = training.work().model_flops;
  for (std::int64_t i = 0; i < settings.steps; ++i) {
    if (i == 0 || i == settings.steps / 2) measure_limits();
    m.steps.push_back(training.step());
    m.page_faults += m.steps.back().page_faults;
  }
  measure_limits();
  m.flops = (training.work().model_flops - flops_before) / settings.steps;
  std::ranges::sort(m.steps, {}, &StepTime::seconds);
  return m;
}

// What only the CPU's clock and its operations, one by one, can tell.
void add_details_of_cpu(Record& record, const Settings& settings, const Measured& m) {
  const auto add = [&](std::string member, double value) {
    record.push_back({std::move(member), {value}});
  };
  const StepTime& median = m.median();
  add("clock_ghz", m.clock_hz / 1e9);
  add("flops_per_cycle", m.peak / m.clock_hz / settings.backend.threads);
  const double products = median.in_operations("matmul");
  const double attention = median.in_operations("attention"), all = median.in_operations("");
  add("products_ms", 1e3 * products);
  add("attention_ms", 1e3 * attention);
  add("rest_ms", 1e3 * (all - products - attention));
  add("host_ms", 1e3 * (median.seconds - all));
}

// What the step's own shapes reach by themselves: the MLP's first product, also of bf16, and
// attention.
void add_details_of_gpu(Record& record, const Settings& settings, Training& training) {
  const auto& [name, size, B] = settings.what;
  Device& device = training.device();
  const auto product_gflops = [&](DType dtype) {
    return product_rate(device, dtype, B * size.T, size.D, size.F()) / 1e9;
  };
  record.push_back({"product_gflops", {product_gflops(settings.dtype)}});
  record.push_back({"bf16_product_gflops", {product_gflops(DType::bf16)}});
  record.push_back({"attention_gflops",
                    {attention_rate(device, settings.dtype, B, size.T, size.D, size.H) / 1e9}});
}

Record record_of(const Settings& settings, Training& training, const Measured& m) {
  const auto& [name, size, B] = settings.what;
  const StepTime& median = m.median();
  const auto tokens = static_cast<double>(B * size.T);
  Record record = new_record(settings.on_gpu() ? "gpu" : "step");
  const auto add = [&](std::string member, auto value) {
    record.push_back({std::move(member), {value}});
  };
  add("case", std::string(name));
  add("dtype", std::string(settings.backend.tf32 ? "tf32" : name_of(settings.dtype)));
  if (settings.on_gpu())
    add("backend", settings.backend.name);
  else
    add("threads", std::int64_t{settings.backend.threads});
  const std::pair<const char*, std::int64_t> letters[] = {
      {"L", size.L}, {"D", size.D}, {"H", size.H}, {"T", size.T}, {"V", size.V}, {"B", B}};
  for (const auto& [letter, value] : letters) add(letter, value);
  add("steps", settings.steps);
  add("step_ms", 1e3 * median.seconds);
  add("shortest_ms", 1e3 * m.steps.front().seconds);
  add("longest_ms", 1e3 * m.steps.back().seconds);
  add("tokens_per_second", tokens / median.seconds);
  add("model_flops", m.flops);
  add("gflops", static_cast<double>(m.flops) / median.seconds / 1e9);
  add("peak_gflops", m.peak / 1e9);
  add("share_of_peak", static_cast<double>(m.flops) / median.seconds / m.peak);
  add("booked_peak_bytes", training.memory().peak_bytes());
  add("resident_peak_bytes", resident_peak_bytes());
  add("page_faults_per_step",
      static_cast<double>(m.page_faults) / static_cast<double>(settings.steps));
  Json::Array losses;
  for (std::size_t i = 0; i < 3; ++i) losses.push_back({training.losses()[i]});
  add("losses", losses);
  if (settings.on_gpu())
    add_details_of_gpu(record, settings, training);
  else
    add_details_of_cpu(record, settings, m);
  return record;
}

void print_parts_of_cpu(const Settings& settings, const Record& record, const StepTime& median) {
  const auto value = [&](std::string_view name) { return number(record, name); };
  const auto line = [&](std::string_view what, double ms) {
    fmt::print("  {:24}{:9.2f} ms {:4.0f} %\n", what, ms, 100 * ms / value("step_ms"));
  };
  const std::int64_t vector = flops_of_a_vector(settings.dtype);
  fmt::print("(at {:.2f} GHz, {:.1f} FLOP per cycle and core; {} = one full vector, {} = two)\n",
             value("clock_ghz"), value("flops_per_cycle"), vector, 2 * vector);
  line("matrix products", value("products_ms"));
  line("attention", value("attention_ms"));
  line("other operations", value("rest_ms"));
  for (const auto& [name, seconds] : other_operations(median, 0.005 * median.seconds))
    line(fmt::format("  {}", name), 1e3 * seconds);
  line("between operations", value("host_ms"));
}

void print(const Settings& settings, const Record& record, const StepTime& median) {
  const auto value = [&](std::string_view name) { return number(record, name); };
  fmt::print("{} {}, {}: L {}, D {}, H {}, T {}, V {}, B {}\n", word(record, "case"),
             word(record, "dtype"),
             settings.on_gpu() ? "a GPU" : fmt::format("{} threads", settings.backend.threads),
             value("L"), value("D"), value("H"), value("T"), value("V"), value("B"));
  fmt::print("step: {:.2f} ms, median of {} ({:.2f} to {:.2f}); {:.0f} tokens/s\n",
             value("step_ms"), settings.steps, value("shortest_ms"), value("longest_ms"),
             value("tokens_per_second"));
  fmt::print("{:.1f} GFLOP/s: {:.1f} % of {:.1f}, the best of {} between the steps\n",
             value("gflops"), 100 * value("share_of_peak"), value("peak_gflops"),
             settings.on_gpu() ? "a large product" : "multiply-adds");
  if (settings.on_gpu())
    fmt::print(
        "by themselves: the MLP's first product {:.1f} GFLOP/s, {:.1f} of bf16, attention {:.1f}\n",
        value("product_gflops"), value("bf16_product_gflops"), value("attention_gflops"));
  else
    print_parts_of_cpu(settings, record, median);
  fmt::print("memory: {} booked at the peak, {} resident; {:.2f} page faults a step\n",
             format_bytes(static_cast<std::int64_t>(value("booked_peak_bytes"))),
             format_bytes(static_cast<std::int64_t>(value("resident_peak_bytes"))),
             value("page_faults_per_step"));
}

void run(const Settings& settings) {
  Training training(settings.what, settings.dtype, settings.backend);
  if (!settings.export_to.empty()) training.export_to(settings.export_to);
  const Measured measured = measure(training, settings);
  const Record record = record_of(settings, training, measured);
  print(settings, record, measured.median());
  fmt::print("losses: {:.8f} {:.8f} {:.8f}\n", training.losses()[0], training.losses()[1],
             training.losses()[2]);
  if (!settings.record.empty()) keep(settings.record, record);
}

}  // namespace

}  // namespace shardlings::lesson01

int main(int count, char** words) {
  try {
    using namespace shardlings::lesson01;
    run(parse(std::vector<std::string>(words + 1, words + count)));
    return 0;
  } catch (const shardlings::Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return static_cast<int>(error.code());
  }
}
