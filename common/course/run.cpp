#include "course/run.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/atomic_file.h"
#include "course/judge_sheet.h"
#include "course/ranks.h"
#include "course/stop.h"
#include "course/terminal.h"
#include "course/trace.h"
#include "data/entropies.h"
#include "data/stories.h"
#include "storage/gpt2_checkpoint.h"
#include "storage/training_state.h"

namespace shardlings {

namespace {

constexpr std::int64_t kHeldOutBatches = 8;
constexpr std::int64_t kPromptBytes = 16;

std::optional<double> finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
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

// All ranks on the lesson's axis.
ProcessGrid grid_of(const LessonCard& card, const Options& options) {
  ProcessGrid::Sizes sizes{1, 1, 1, 1};
  if (card.axis) sizes[static_cast<std::size_t>(*card.axis)] = options.ranks;
  return ProcessGrid(sizes);
}

Report start_report(const LessonCard& card, const Options& options, World& world) {
  Report report;
  report.launcher = world.all().size() == 1 ? "self" : options.launcher;
  report.ranks = world.all().size();
  report.mesh = {.dp = world.grid().size(Axis::dp),
                 .tp = world.grid().size(Axis::tp),
                 .pp = world.grid().size(Axis::pp),
                 .cp = world.grid().size(Axis::cp)};
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

Run::Run(const LessonCard& card, const Options& options, RankStart start)
    : card_(card),
      options_(options),
      nowhere_(std::fopen("/dev/null", "w"), &std::fclose),
      world_(options, std::move(start), grid_of(card, options)),
      out_(options.quiet || !is_first() ? nowhere_.get() : stdout),
      report_(start_report(card, options, world_)) {
  CHECK(nowhere_ != nullptr, "/dev/null cannot be opened");
  if (world_.all().size() > 1) write_text(out_, world_.placement() + "\n");
  // Better refused now than after the training: a text, the report's place, a malformed sheet.
  if (!options.text.empty()) text();
  make_directory(options.output);
  const std::filesystem::path path = sheet_path(card, options.sheet);
  if (options.sheet != "mine" || std::filesystem::exists(path)) {
    sheet_ = read_sheet(path);
    evaluate(*sheet_, letters_of(card, options));
  }
}

const TokenSource& Run::text() const {
  if (text_ == nullptr) text_ = open_text(options_);
  return *text_;
}

GlobalBatch Run::batch(Split split, std::int64_t index) const {
  GlobalBatch batch = global_batch(text(), split, index, options_.batch, options_.size.T);
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

void Run::save(const StoredTensors& tensors) {
  if (!is_first()) return;
  // Whatever fails from here on, the losses are kept.
  write_report(report_, options_.output);
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
  ProgressLine progress(out_, options_.steps, options_.batch * options_.size.T);
  double floor_sum = 0;
  for (bool more = true; more;) {
    const GlobalBatch global = batch(Split::train, steps_done_);
    meter_.begin();
    const StepResult result = train_step(global);
    meter_.end();

    const std::int64_t step = steps_done_ + 1;
    report_.losses.push_back(result.loss);
    report_.gradient_norms.push_back(result.gradient_norm);
    floor_sum += global.floor();
    if (!std::isfinite(result.loss) || !std::isfinite(result.gradient_norm)) {
      report_.ending = Ending::broken;
      if (is_first()) write_report(report_, options_.output);
      fail(ExitCode::broken,
           "step {}: the loss is {} and the gradient norm {}; a smaller --learning-rate may help",
           step, result.loss, result.gradient_norm);
    }
    steps_done_ = step;
    progress.step_done(step, result.loss, finite(global.floor()));
    if (options_.evaluate_every_steps > 0 && step % options_.evaluate_every_steps == 0)
      progress.say(fmt::format("step {}: held-out loss {:.3f} after {:.0f} s", step,
                               held_out_loss(evaluate), meter_.seconds_so_far()));
    more = goes_on(step, progress);
  }
  report_.wall = Wall{.step_ms_median = 1e3 * meter_.median_seconds(),
                      .tokens_per_second = static_cast<double>(options_.batch * options_.size.T) /
                                           meter_.median_seconds()};
  report_.entropy_floor = finite(floor_sum / static_cast<double>(report_.losses.size()));
  count("model FLOPs per step", "FLOPs", static_cast<double>(meter_.work().model_flops));
  count("executed FLOPs per step", "FLOPs", static_cast<double>(meter_.work().executed_flops));
  record_clock();
  count_text(evaluate);
}

void Run::repeat(const std::function<void()>& step) {
  ProgressLine progress(out_, options_.steps, 0);
  for (bool more = true; more;) {
    meter_.begin();
    step();
    meter_.end();
    more = goes_on(++steps_done_, progress);
  }
  report_.wall = Wall{.step_ms_median = 1e3 * meter_.median_seconds()};
  record_clock();
}

bool Run::goes_on(std::int64_t step, ProgressLine& progress) {
  const bool out_of_time =
      options_.time_limit_seconds > 0 && meter_.seconds_so_far() >= options_.time_limit_seconds;
  const std::vector<double> agreed =
      world_.all().agree({stop_requested() ? 1.0 : 0.0, out_of_time ? 1.0 : 0.0});
  if (step == options_.steps) return false;
  if (agreed[0] > 0) {
    report_.ending = Ending::stopped;
    progress.say(fmt::format("asked to stop: step {} is done, the report follows", step));
    return false;
  }
  if (agreed[1] > 0) progress.say(fmt::format("--time-limit: {} steps done", step));
  return agreed[1] == 0;
}

// How hard the text is, beside how well the model does on what it never saw.
void Run::count_text(const Evaluate& evaluate) {
  count("held-out loss", "nats per byte", held_out_loss(evaluate));
  if (const auto* file = dynamic_cast<const TextFile*>(&text())) {
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

void Run::count_messages(std::string_view what) {
  double messages = 0;
  for (const auto& [key, count] : meter_.traffic())
    if (key.what == what) messages += static_cast<double>(count.messages);
  count(fmt::format("{} messages per step", what), "messages",
        world_.all().sum(messages) / world_.all().size());
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

void Run::record_traffic() {
  TrafficReport traffic;
  for (const auto& [key, count] : meter_.traffic()) {
    std::vector<std::string> links;
    for (const auto& [link, bytes] : count.sent_bytes_by_link) links.push_back(link);
    traffic.rows.push_back({.axis = key.axis,
                            .operation = key.operation,
                            .what = key.recomputed ? key.what + " (recomputed)" : key.what,
                            .calls = count.calls,
                            .messages = count.messages,
                            .payload_bytes = count.payload_bytes,
                            .sent_bytes = count.sent_bytes,
                            .link = fmt::format("{}", fmt::join(links, " + "))});
  }
  report_.traffic = {std::move(traffic)};
}

// All ranks end a step together, so that rank 0's clock is everybody's.
void Run::record_clock() {
  if (options_.cluster.empty()) return;
  const ClockTime& step = meter_.clock();
  double model_flops = 0;
  for (const std::string& flops :
       world_.all().gather_texts(fmt::format("{}", meter_.work().model_flops)))
    model_flops += std::stod(flops);
  constexpr double kMs = 1e3;
  const double peak_flops =
      step.total() * world_.clock().cluster().chip.flops * static_cast<double>(world_.all().size());
  report_.clock = ClockReport{.cluster = world_.clock().cluster().name,
                              .step_ms = kMs * step.total(),
                              .compute_ms = kMs * step.compute,
                              .exposed_communication_ms = kMs * step.exposed_communication,
                              .bubble_ms = kMs * step.bubble,
                              .mfu = model_flops > 0 ? model_flops / peak_flops : 0};
}

void Run::record_ledgers() {
  record_memory();
  if (world_.all().size() == 1) return;
  record_traffic();
  const std::vector<std::string> reports = world_.all().gather_texts(report_to_json(report_));
  for (std::size_t rank = 1; rank < reports.size(); ++rank) {
    Report its = report_from_json(reports[rank]);
    std::ranges::move(its.memory, std::back_inserter(report_.memory));
    std::ranges::move(its.counts, std::back_inserter(report_.counts));
    std::ranges::move(its.traffic, std::back_inserter(report_.traffic));
    // A check that fails anywhere fails.
    for (const CheckResult& check : its.checks)
      if (!check.passed)
        report_.checks.push_back({.name = fmt::format("rank {}: {}", rank, check.name),
                                  .passed = false,
                                  .value = check.value,
                                  .limit = check.limit});
  }
}

void Run::write_timeline() {
  if (options_.cluster.empty()) return;
  const std::vector<std::string> ranks =
      world_.all().gather_texts(trace_of_rank(meter_.events(), world_.rank()));
  if (!is_first()) return;
  const std::filesystem::path path = write_trace(ranks, options_.output);
  write_text(out_, fmt::format("the last step as that cluster would take it: {}, for "
                               "ui.perfetto.dev or chrome://tracing\n",
                               path.string()));
}

ExitCode Run::finish() {
  record_ledgers();
  write_timeline();
  if (is_first()) {
    if (sheet_) add_budget(report_, *sheet_, card_, options_);
    if (!card_.builds_on.folder.empty())
      report_.trade = trade_against(card_.builds_on, report_, letters_of(card_, options_));
    const std::filesystem::path path = write_report(report_, options_.output);
    const TextStyle style = style_of(stdout);
    write_text(stdout, report_text(report_, style) + summary_line(report_, path, style) + "\n");
  }
  const double code = is_first() ? static_cast<double>(exit_code(report_)) : 0;
  return static_cast<ExitCode>(world_.all().agree({code}).front());
}

int run_lesson(int argc, const char* const* argv, const LessonCard& card,
               const std::function<void(Run&)>& lesson_main) {
  return run_main(argc, argv, card, [&](const Options& options) {
    if (options.judge == "sheet") return judge_sheet(card, options, lesson_main);
    ExitCode code = ExitCode::ok;
    run_ranks(options, [&](RankStart start) {
      const bool is_first = start.transport->rank() == 0;
      Run run(card, options, std::move(start));
      lesson_main(run);
      const ExitCode its = run.finish();
      if (is_first) code = its;
    });
    return code;
  });
}

}  // namespace shardlings
