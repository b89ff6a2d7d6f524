#include "course/run.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/atomic_file.h"
#include "course/judge_sheet.h"
#include "course/progress.h"
#include "course/stop.h"
#include "course/terminal.h"
#include "data/entropies.h"
#include "data/stories.h"
#include "storage/gpt2_checkpoint.h"
#include "storage/training_state.h"

namespace shardlings {

namespace {

constexpr std::int64_t kHeldOutBatches = 8;
constexpr std::int64_t kPromptBytes = 16;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::optional<double> finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Draws an index with probability proportional to exp(logit).
std::int32_t draw(const std::vector<double>& logits, double uniform) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  double total = 0;
  for (const double logit : logits) total += std::exp(logit - largest);
  double left = uniform * total;
  for (std::size_t v = 0; v < logits.size(); ++v) {
    left -= std::exp(logits[v] - largest);
    if (left < 0) return static_cast<std::int32_t>(v);
  }
  return static_cast<std::int32_t>(logits.size() - 1);
}

// A byte as it is shown: text as it is, everything else as \xNN.
std::string printable(std::int32_t byte) {
  const bool is_text = byte == '\n' || (byte >= ' ' && byte < 127);
  return is_text ? std::string(1, static_cast<char>(byte)) : fmt::format("\\x{:02x}", byte);
}

std::unique_ptr<TokenSource> open_text(const Options& options) {
  const auto seed = static_cast<std::uint64_t>(options.seed);
  if (options.text.empty()) return std::make_unique<Stories>(seed);
  return std::make_unique<TextFile>(options.text, options.size.T, seed);
}

// Two runs with equal settings take the same steps.
TrainingState training_state(const Options& o, const StoredTensors& tensors) {
  const auto text = [](auto value) { return fmt::format("{}", value); };
  TrainingState state;
  state.settings = {{"L", text(o.size.L)},
                    {"D", text(o.size.D)},
                    {"H", text(o.size.H)},
                    {"T", text(o.size.T)},
                    {"V", text(o.size.V)},
                    {"dtype", o.dtype},
                    {"seed", text(o.seed)},
                    {"batch", text(o.batch)},
                    {"text", o.text},
                    {"steps", text(o.steps)},
                    {"learning rate", text(o.learning_rate)},
                    {"warm-up", text(o.warmup_steps)},
                    {"weight decay", text(o.weight_decay)},
                    {"clip", text(o.clip)}};
  for (const auto& [name, setting] : o.knobs) state.settings[name] = std::visit(text, setting);
  for (const NamedTensor& tensor : tensors.parameters)
    state.tensors.push_back({"parameters/" + tensor.name, tensor.value});
  for (const NamedTensor& tensor : tensors.optimizer)
    state.tensors.push_back({"optimizer/" + tensor.name, tensor.value});
  return state;
}

Report start_report(const LessonCard& card, const Options& options) {
  Report report;
  report.lesson = lesson_folder(card);
  report.backend = options.backend;
  report.dtype = options.dtype;
  report.policy = options.dtype;
  report.seed = options.seed;
  report.steps = options.steps;
  report.model.size = options.size;
  report.knobs = options.knobs;
  return report;
}

}  // namespace

Run::Run(const LessonCard& card, const Options& options)
    : card_(card),
      options_(options),
      nowhere_(options.quiet ? std::fopen("/dev/null", "w") : nullptr, &std::fclose),
      out_(options.quiet ? nowhere_.get() : stdout),
      world_(options),
      text_(open_text(options)),
      report_(start_report(card, options)) {
  CHECK(out_ != nullptr, "/dev/null cannot be opened");
  // Better refused now than after the training: the report's place, a malformed sheet.
  make_directory(options.output);
  const std::filesystem::path path = sheet_path(card, options.sheet);
  if (options.sheet != "mine" || std::filesystem::exists(path)) {
    sheet_ = read_sheet(path);
    evaluate(*sheet_, letters_of(card, options));
  }
}

GlobalBatch Run::batch(Split split, std::int64_t index) const {
  GlobalBatch batch = global_batch(*text_, split, index, options_.batch, options_.size.T);
  if (prepare_) prepare_(batch);
  return batch;
}

std::int64_t Run::load(const StoredTensors& tensors) {
  if (!options_.init.empty()) import_gpt2(options_.init, options_.size, tensors.parameters);
  if (!options_.resume.empty()) {
    TrainingState state = training_state(options_, tensors);
    const std::filesystem::path path = load_training_state(options_.resume, state);
    steps_done_ = state.step;
    write_text(out_, fmt::format("resumed from {}, {} steps done\n", path.string(), steps_done_));
  }
  if (steps_done_ >= options_.steps)
    fail(ExitCode::usage, "--steps: {} steps are done already, {} were asked for", steps_done_,
         options_.steps);
  if (!options_.save.empty()) require_no_state_after(steps_done_, options_.save);
  return steps_done_;
}

void Run::save(const StoredTensors& tensors) const {
  write_report(report_, options_.output);  // whatever fails from here on, the losses are kept
  if (!options_.save.empty()) save_state(tensors);
  if (!options_.export_to.empty())
    export_gpt2(options_.export_to, options_.size, tensors.parameters);
}

void Run::save_state(const StoredTensors& tensors) const {
  TrainingState state = training_state(options_, tensors);
  state.step = steps_done_;
  const std::filesystem::path path = save_training_state(options_.save, state);
  write_text(out_, fmt::format("saved {}; the same command with --resume {} goes on from there\n",
                               path.string(), options_.save));
}

double Run::held_out_loss(const Evaluate& evaluate) const {
  double loss_sum = 0, tokens = 0;
  for (std::int64_t i = 0; i < kHeldOutBatches; ++i) {
    const GlobalBatch held_out = batch(Split::held_out, i);
    loss_sum += evaluate(held_out);
    tokens += held_out.valid_tokens();
  }
  return loss_sum / tokens;
}

void Run::train(const TrainStep& train_step, const Evaluate& evaluate) {
  Progress progress(out_, options_.steps, options_.batch * options_.size.T);
  std::vector<double> step_seconds;
  double floor_sum = 0;
  Work work_of_step;
  const Clock::time_point start = Clock::now();
  for (std::int64_t step = steps_done_ + 1; step <= options_.steps; ++step) {
    const GlobalBatch global = batch(Split::train, step - 1);
    const Work before = world_.work().total();
    const Clock::time_point step_start = Clock::now();
    const StepResult result = train_step(global);
    step_seconds.push_back(seconds_since(step_start));
    work_of_step = world_.work().total() - before;

    report_.losses.push_back(result.loss);
    report_.gradient_norms.push_back(result.gradient_norm);
    floor_sum += global.floor();
    if (!std::isfinite(result.loss) || !std::isfinite(result.gradient_norm)) {
      report_.ending = Ending::broken;
      write_report(report_, options_.output);
      fail(ExitCode::broken,
           "step {}: the loss is {} and the gradient norm {}; a smaller --learning-rate may help",
           step, result.loss, result.gradient_norm);
    }
    steps_done_ = step;
    progress.step_done(step, result.loss, finite(global.floor()));

    if (options_.evaluate_every_steps > 0 && step % options_.evaluate_every_steps == 0)
      progress.say(fmt::format("step {}: held-out loss {:.3f} after {:.0f} s", step,
                               held_out_loss(evaluate), seconds_since(start)));
    if (stop_requested() && step < options_.steps) {
      report_.ending = Ending::stopped;
      progress.say(fmt::format("asked to stop: step {} is done, the report follows", step));
      break;
    }
    if (options_.time_limit_seconds > 0 && seconds_since(start) >= options_.time_limit_seconds) {
      progress.say(fmt::format("--time-limit: {} steps done", step));
      break;
    }
  }
  const double step_median = median(step_seconds);
  report_.wall = Wall{
      .step_ms_median = 1e3 * step_median,
      .tokens_per_second = static_cast<double>(options_.batch * options_.size.T) / step_median};
  report_.entropy_floor = finite(floor_sum / static_cast<double>(report_.losses.size()));
  count("model FLOPs per step", "FLOPs", static_cast<double>(work_of_step.model_flops));
  count("executed FLOPs per step", "FLOPs", static_cast<double>(work_of_step.executed_flops));
  count("held-out loss", "nats per byte", held_out_loss(evaluate));
  if (const auto* file = dynamic_cast<const TextFile*>(text_.get())) {
    const Entropies known = entropies(file->bytes());
    count("text entropy, unigram", "nats per byte", known.unigram);
    count("text entropy, bigram", "nats per byte", known.bigram);
    count("text entropy, trigram", "nats per byte", known.trigram);
  } else {
    double nats = 0, tokens = 0;
    for (std::int64_t i = 0; i < kHeldOutBatches; ++i) {
      const GlobalBatch held_out = batch(Split::held_out, i);
      nats += held_out.floor() * held_out.valid_tokens();
      tokens += held_out.valid_tokens();
    }
    count("held-out floor", "nats per byte", nats / tokens);
  }
}

void Run::count(std::string name, std::string unit, double measured) {
  if (report_.counts.empty()) report_.counts.emplace_back();
  report_.counts.front().rows.push_back(
      {.name = std::move(name), .unit = std::move(unit), .measured = measured});
}

void Run::print_sample(const NextByte& next_byte) const {
  if (options_.sample_bytes == 0) return;
  const RandomStream random(static_cast<std::uint64_t>(options_.seed), "sample");
  const GlobalBatch held_out = batch(Split::held_out, 0);
  const std::int64_t prompt = std::min(kPromptBytes, options_.size.T);
  std::vector<std::int32_t> tokens(held_out.tokens_BT.begin(), held_out.tokens_BT.begin() + prompt);
  std::string text = "\nA sample from the model:\n\n";
  for (const std::int32_t token : tokens) text += printable(token);
  text += "|";
  for (std::int64_t i = 0; i < options_.sample_bytes; ++i) {
    const std::vector<double> logits = next_byte(tokens);
    const auto index = static_cast<std::uint64_t>(i);
    tokens.push_back(draw(logits, random.uniform(index)));
    text += printable(tokens.back());
    if (static_cast<std::int64_t>(tokens.size()) > options_.size.T) tokens.erase(tokens.begin());
  }
  write_text(out_, text + "\n\n");
}

void Run::record_memory() {
  std::vector<MemoryTier> tiers;
  for (MemoryLedger* ledger : {&world_.device_memory(), &world_.host_memory()}) {
    MemoryTier tier{.tier = ledger->tier(), .peak_bytes = ledger->peak_bytes()};
    const auto add_row = [&](std::string_view name, std::int64_t peak, std::int64_t at_peak) {
      tier.rows.push_back(
          {.name = std::string(name), .peak_bytes = peak, .at_peak_bytes = at_peak});
    };
    for (std::size_t i = 0; i < kCategories; ++i) {
      const auto category = static_cast<Category>(i);
      add_row(name_of(category), ledger->category_peaks()[category], ledger->at_peak()[category]);
    }
    add_row("model_and_activations", ledger->at_joint_peak().model_and_activations(),
            ledger->at_peak().model_and_activations());
    for (const OwnerBytes& owner : ledger->owners_at_peak())
      tier.owners_at_peak.push_back(
          {fmt::format("{} ({})", owner.owner, name_of(owner.category)), owner.bytes});
    tiers.push_back(std::move(tier));
  }
  report_.memory = {std::move(tiers)};
}

ExitCode Run::finish() {
  record_memory();
  const Values letters = letters_of(card_, options_);
  if (sheet_) add_budget(report_, *sheet_, letters);
  if (!card_.builds_on.folder.empty())
    report_.trade = trade_against(card_.builds_on, report_, letters);
  const std::filesystem::path path = write_report(report_, options_.output);
  const TextStyle style = style_of(stdout);
  write_text(stdout, report_text(report_, style) + summary_line(report_, path, style) + "\n");
  return exit_code(report_);
}

int run_lesson(int argc, const char* const* argv, const LessonCard& card,
               const std::function<void(Run&)>& lesson_main) {
  return run_main(argc, argv, card, [&](const Options& options) {
    if (options.judge == "sheet") return judge_sheet(card, options, lesson_main);
    Run run(card, options);
    lesson_main(run);
    return run.finish();
  });
}

}  // namespace shardlings
