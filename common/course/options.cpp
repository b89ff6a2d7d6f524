#include "course/options.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "base/suggest.h"
#include "base/units.h"
#include "course/text.h"

namespace shardlings {

namespace {

// What an option sets, and what it takes for that.
struct Whole {
  std::int64_t* value;
  std::int64_t lowest, highest;
};
struct Decimal {
  double* value;
  double lowest, highest;
};
struct Word {
  std::string* value;
  std::vector<std::string_view> allowed;
};
struct Preset {
  std::string* name;
  ModelSize* size;
};
struct Path {
  std::string* value;
};
struct Bytes {
  std::int64_t* value;
};

struct Row {
  std::string_view group;
  std::string name;
  std::string_view placeholder;
  std::string_view help;
  std::variant<Whole, Decimal, Word, Preset, Path, Bytes> target;
  std::optional<std::string_view> given = {};  // on the command line
};

std::vector<std::string_view> preset_names() {
  std::vector<std::string_view> names;
  for (const ModelPreset& preset : model_presets()) names.push_back(preset.name);
  return names;
}

Row knob_row(Options& o, const Knob& knob) {
  Row row{"This lesson", "--" + knob.name, "N", knob.help, {}};
  Setting& value = o.knobs.emplace(knob.name, knob.initial).first->second;
  if (auto* whole = std::get_if<std::int64_t>(&value)) {
    row.target = Whole{whole, knob.lowest, knob.highest};
  } else if (auto* decimal = std::get_if<double>(&value)) {
    row.target =
        Decimal{decimal, static_cast<double>(knob.lowest), static_cast<double>(knob.highest)};
  } else if (auto* word = &std::get<std::string>(value); knob.allowed.empty()) {
    row.placeholder = "FILE";
    row.target = Path{word};
  } else {
    row.placeholder = "NAME";
    row.target = Word{word, knob.allowed};
  }
  return row;
}

// Every option, in the order of the help. The limits keep any product of sizes below 2^63.
std::vector<Row> option_rows(Options& o, const LessonCard& card) {
  constexpr std::string_view kModel = "Model: a preset, and sizes that override it";
  constexpr std::string_view kTraining = "Training";
  constexpr std::string_view kText = "Text and output";
  constexpr std::string_view kFiles = "Weights on disk";
  constexpr std::string_view kMachine = "Machine";
  constexpr std::int64_t kMany = 1'000'000'000;
  std::vector<Row> rows{
      {kModel, "--model", "NAME", "nano, micro or gpt2", Preset{&o.model, &o.size}},
      {kModel, "--layers", "N", "L, blocks", Whole{&o.size.L, 1, 1000}},
      {kModel, "--width", "N", "D, a multiple of the heads", Whole{&o.size.D, 1, 65536}},
      {kModel, "--heads", "N", "H, attention heads", Whole{&o.size.H, 1, 1024}},
      {kModel, "--context", "N", "T, tokens per sequence", Whole{&o.size.T, 1, 65536}},
      {kModel, "--vocabulary", "N", "V, at least the 256 values of a byte",
       Whole{&o.size.V, 256, 1 << 24}},
      {kTraining, "--batch", "N", "sequences per step", Whole{&o.batch, 1, 65536}},
      {kTraining, "--steps", "N", "optimizer steps", Whole{&o.steps, 1, kMany}},
      {kTraining, "--time-limit", "SECONDS", "stop training after so long; 0: never",
       Decimal{&o.time_limit_seconds, 0, 1e9}},
      {kTraining, "--learning-rate", "X", "peak of the schedule",
       Decimal{&o.learning_rate, 0, 100}},
      {kTraining, "--warmup", "STEPS", "steps up to that peak", Whole{&o.warmup_steps, 0, kMany}},
      {kTraining, "--weight-decay", "X", "of the matrices", Decimal{&o.weight_decay, 0, 100}},
      {kTraining, "--clip", "X", "largest norm of the gradient; 0: any", Decimal{&o.clip, 0, 1e9}},
      {kTraining, "--seed", "N", "another one, another start and other batches",
       Whole{&o.seed, 0, 4294967295}},
      {kTraining, "--dtype", "NAME", "f32 or f64", Word{&o.dtype, {"f32", "f64"}}},
      {kText, "--text", "FILE", "train on this file; without it, on built-in stories",
       Path{&o.text}},
      {kText, "--evaluate-every", "STEPS", "held-out loss that often; 0: at the end",
       Whole{&o.evaluate_every_steps, 0, kMany}},
      {kText, "--sample", "BYTES", "text drawn from the model at the end",
       Whole{&o.sample_bytes, 0, 1'000'000}},
      {kText, "--output", "DIR", "where the report goes", Path{&o.output}},
      {kText, "--sheet", "FILE", "the hand budget: mine, solution or a file", Path{&o.sheet}},
      {kText, "--judge", "WHAT", "run, or only the sheet, over several small runs",
       Word{&o.judge, {"run", "sheet"}}},
      {kFiles, "--init", "DIR", "start from this GPT-2 checkpoint (Hugging Face's format)",
       Path{&o.init}},
      {kFiles, "--export", "DIR", "write one at the end", Path{&o.export_to}},
      {kFiles, "--save", "DIR", "keep what a resumed run needs, at the end or when stopped",
       Path{&o.save}},
      {kFiles, "--resume", "PATH", "go on from there, to the last bit", Path{&o.resume}},
      {kMachine, "--cluster", "NAME",
       "the modelled clock's: h100x8, laptop, ... or a file; without it, no time passes",
       Path{&o.cluster}},
      {kMachine, "--backend", "NAME",
       "cpu, guarded (host reads fault), cuda, or cuda-tf32 (f32 products of 10 bits)",
       Word{&o.backend, {"cpu", "guarded", "cuda", "cuda-tf32"}}},
      {kMachine, "--threads", "N", "of the kernels; 0: one per core", Whole{&o.threads, 0, 4096}},
      {kMachine, "--device-memory", "SIZE", "cap it, for instance at 40MiB; without it, no cap",
       Bytes{&o.device_memory_bytes}},
  };
  if (card.state_is_sharded)
    std::erase_if(rows,
                  [](const Row& row) { return row.name == "--save" || row.name == "--resume"; });
  if (card.axis) {
    rows.push_back({kMachine, "--ranks", "N", "n, processes or threads that train together",
                    Whole{&o.ranks, 1, 1024}});
    rows.push_back({kMachine, "--launcher", "NAME",
                    "what ranks are: threads of one process, or mpi (started by mpiexec)",
                    Word{&o.launcher, {"threads", "mpi"}}});
    rows.push_back({kMachine, "--chips-per-node", "N",
                    "k, ranks that share a node of the cluster; 0: as many as it has chips",
                    Whole{&o.chips_per_node, 0, 1'000'000}});
  }
  for (const Knob& knob : card.knobs) {
    rows.push_back(knob_row(o, knob));
    CHECK(std::ranges::count(rows, rows.back().name, &Row::name) == 1, "two options are called {}",
          rows.back().name);
  }
  return rows;
}

// "... expected <this>"
std::string expected(const Whole& whole) {
  return fmt::format("a whole number from {} to {}", whole.lowest, whole.highest);
}
std::string expected(const Decimal& decimal) {
  return fmt::format("a number from {} to {}", decimal.lowest, decimal.highest);
}
std::string expected(const Word& word) {
  return fmt::format("one of {}", fmt::join(word.allowed, ", "));
}
std::string expected(const Preset& preset) {
  return expected(Word{preset.name, preset_names()});
}
std::string expected(const Path&) {
  return "a path";
}
std::string expected(const Bytes&) {
  return "a size such as 48MiB, 1.5GiB or 4096";
}

// Sets the target, or returns false or throws Error and leaves it as it was.
bool read(const Whole& whole, std::string_view text) {
  const std::int64_t value = parse_integer(text, "");
  if (value < whole.lowest || value > whole.highest) return false;
  *whole.value = value;
  return true;
}
bool read(const Decimal& decimal, std::string_view text) {
  const double value = parse_number(text, "");
  if (value < decimal.lowest || value > decimal.highest) return false;
  *decimal.value = value;
  return true;
}
bool read(const Word& word, std::string_view text) {
  if (std::ranges::find(word.allowed, text) == word.allowed.end()) return false;
  *word.value = text;
  return true;
}
bool read(const Preset& preset, std::string_view text) {
  for (const ModelPreset& known : model_presets()) {
    if (known.name != text) continue;
    *preset.name = text;
    *preset.size = known.size;
    return true;
  }
  return false;
}
bool read(const Path& path, std::string_view text) {
  if (text.empty()) return false;
  *path.value = text;
  return true;
}
bool read(const Bytes& bytes, std::string_view text) {
  *bytes.value = parse_bytes(text);
  return true;
}

// The default as the help shows it.
std::string shown(const Whole& whole) {
  return std::to_string(*whole.value);
}
std::string shown(const Decimal& decimal) {
  return fmt::format("{}", *decimal.value);
}
std::string shown(const Word& word) {
  return *word.value;
}
std::string shown(const Preset& preset) {
  return *preset.name;
}
std::string shown(const Path& path) {
  return *path.value;
}
std::string shown(const Bytes& bytes) {
  return *bytes.value == 0 ? "" : format_bytes(*bytes.value);
}

std::string expected(const Row& row) {
  return std::visit([](const auto& target) { return expected(target); }, row.target);
}

bool accepts_given(const Row& row) {
  try {
    return std::visit([&](const auto& target) { return read(target, *row.given); }, row.target);
  } catch (const Error&) {
    return false;  // not a number at all; our caller says what was expected
  }
}

[[noreturn]] void fail_unknown(std::string_view name, const std::vector<Row>& rows) {
  std::vector<std::string_view> names{"--help"};
  for (const Row& row : rows) names.push_back(row.name);
  if (name == "--ranks" || name == "--launcher")
    fail(ExitCode::usage, "this lesson has one rank, so that {} says nothing here", name);
  if (name == "--save" || name == "--resume")
    fail(ExitCode::usage,
         "{}: each rank has a part of the state, and sharded checkpoints come with lesson 25",
         name);
  const std::string likely = nearest(name, names);
  if (likely.empty()) fail(ExitCode::usage, "unknown option {:?}; --help lists them all", name);
  fail(ExitCode::usage, "unknown option {:?}; did you mean {}?", name, likely);
}

// Takes `arguments` apart: fills in row.given.
void split(std::span<const char* const> arguments, std::vector<Row>& rows) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (!argument.starts_with("-"))
      fail(ExitCode::usage, "{:?} is not an option; --help lists them all", argument);
    const std::size_t equals = argument.find('=');
    const std::string_view name = argument.substr(0, equals);
    const auto row = std::ranges::find(rows, name, &Row::name);
    if (row == rows.end()) fail_unknown(name, rows);
    if (row->given) fail(ExitCode::usage, "{} is given twice; once is enough", name);
    if (equals != std::string_view::npos)
      row->given = argument.substr(equals + 1);
    else if (i + 1 < arguments.size() && !std::string_view(arguments[i + 1]).starts_with("--"))
      row->given = arguments[++i];
    else
      fail(ExitCode::usage, "{}: expected {}, got nothing", name, expected(*row));
  }
}

Options initial_options(const LessonCard& card) {
  Options options = card.defaults;
  CHECK(read(Preset{&options.model, &options.size}, options.model), "no model is called {}",
        options.model);
  if (card.defaults.size.T > 0) options.size.T = card.defaults.size.T;
  if (options.output.empty()) options.output = "runs/" + lesson_folder(card);
  return options;
}

bool asks_for_help(std::string_view argument) {
  return argument == "--help" || argument == "-h";
}

}  // namespace

std::string lesson_folder(const LessonCard& card) {
  return fmt::format("{:02}_{}", card.number, card.slug);
}

Options parse_options(const LessonCard& card, std::span<const char* const> arguments) {
  Options options = initial_options(card);
  options.help = std::ranges::any_of(arguments, asks_for_help);
  if (options.help) return options;
  std::vector<Row> rows = option_rows(options, card);
  split(arguments, rows);
  // In the order of the table: --model before the sizes that override it.
  std::vector<std::string> problems;
  for (const Row& row : rows)
    if (row.given && !accepts_given(row))
      problems.push_back(
          fmt::format("{}: expected {}, got {:?}", row.name, expected(row), *row.given));
  std::ranges::move(violated_rules(options.size), std::back_inserter(problems));
  if (!problems.empty()) fail(ExitCode::usage, "{}", fmt::join(problems, "; "));
  return options;
}

std::string help_text(const LessonCard& card) {
  constexpr std::int64_t kHelpColumn = 28;
  constexpr std::int64_t kWidth = 80;
  Options options = initial_options(card);
  std::string text = fmt::format("Lesson {:02} · {}\n\n", card.number, card.title);
  text += fmt::format("Usage: ./shardlings run {:02} [options]\n", card.number);
  std::string_view group;
  for (const Row& row : option_rows(options, card)) {
    if (row.group != group) text += fmt::format("\n{}\n", row.group);
    group = row.group;
    const std::string initial =
        std::visit([](const auto& target) { return shown(target); }, row.target);
    const std::string help = fmt::format("{} [{}]", row.help, initial);
    std::string head = fmt::format("  {} {}", row.name, row.placeholder);
    for (const std::string& line :
         wrap(initial.empty() ? std::string(row.help) : help, kWidth - kHelpColumn)) {
      text += pad_right(head, kHelpColumn) + line + '\n';
      head.clear();
    }
  }
  text += "\n  -h, --help                this page; the defaults are in brackets\n";
  return text;
}

}  // namespace shardlings
