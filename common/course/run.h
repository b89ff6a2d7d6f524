// One run of a lesson: its options, world, text and report, and the loop around train_step.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "course/frame.h"
#include "course/hand_budget.h"
#include "course/progress.h"
#include "course/report.h"
#include "course/step_meter.h"
#include "course/world.h"
#include "data/global_batch.h"
#include "data/text_file.h"
#include "storage/named_tensors.h"

namespace shardlings {

// What a lesson's train_step tells.
struct StepResult {
  double loss = 0;           // nats per valid token of the global batch, before the update
  double gradient_norm = 0;  // before clipping
};

// A model's parameters, and what its optimizer keeps, by name.
struct StoredTensors {
  std::vector<NamedTensor> parameters, optimizer;
};

class Run {
 public:
  // A rank by itself, or one of several. Errors: those of World, and of TextFile for --text.
  Run(const LessonCard& card, const Options& options, RankStart start = start_alone());

  const Options& options() const { return options_; }
  World& world() { return world_; }
  DType dtype() const { return dtype_named(options_.dtype); }
  // What the lesson's own options are set to. Requires: a knob of that name that takes a number, or
  // a word.
  std::int64_t number(const std::string& knob) const {
    return std::get<std::int64_t>(options_.knobs.at(knob));
  }
  const std::string& word(const std::string& knob) const {
    return std::get<std::string>(options_.knobs.at(knob));
  }
  Report& report() { return report_; }

  // Global batch `index` (0, 1, ...) of a split: a pure function of the seed and the index.
  GlobalBatch batch(Split split, std::int64_t index) const;
  // From now on every batch passes through `prepare` first; it masks targets, for instance.
  void prepare_batches(std::function<void(GlobalBatch&)> prepare) { prepare_ = std::move(prepare); }

  // --init and --resume: fills the tensors. Returns how many updates they have behind them;
  // training goes on with the batch after those. Errors: those of import_gpt2() and
  // load_training_state().
  std::int64_t load(const StoredTensors& tensors);
  bool starts_untrained() const { return options_.init.empty() && options_.resume.empty(); }
  // --export and --save, after training. Rank 0 writes: the tensors are the same on all ranks.
  // Errors: those of export_gpt2() and save_training_state().
  void save(const StoredTensors& tensors);

  using TrainStep = std::function<StepResult(const GlobalBatch&)>;
  // The summed loss of a batch, without training on it.
  using Evaluate = std::function<double(const GlobalBatch&)>;

  // Calls train_step for every step until --steps, --time-limit or a stop signal, shows how far it
  // is, and records losses, norms, FLOPs and times; evaluates on held-out text at the end and every
  // --evaluate-every steps.
  // Errors: Error(broken), with a report on disk, when a loss or a gradient norm is not finite:
  // names the step.
  void train(const TrainStep& train_step, const Evaluate& evaluate);

  // For lessons that do not train: calls step() --steps times, or until a stop signal, and records
  // what it did.
  void repeat(const std::function<void()>& step);

  // A measured number that belongs to no memory category: FLOPs, messages, a loss.
  void count(std::string name, std::string unit, double measured);
  // The messages of a rank in the last step about `what`, on average over the ranks: the row
  // "<what> messages per step". Collective.
  void count_messages(std::string_view what);

  // The model's logits for the byte after `tokens`.
  using NextByte = std::function<std::vector<double>(const std::vector<std::int32_t>& tokens)>;
  // Prints --sample bytes drawn from the model, starting from the first bytes of a held-out sample.
  void print_sample(const NextByte& next_byte) const;

  // Reads the ledgers into the report; on rank 0, those of all ranks.
  void record_ledgers();
  // The same, and on rank 0 adds the hand budget, prints the tables and writes the report. The same
  // code on every rank.
  ExitCode finish();

 private:
  const TokenSource& text() const;
  bool is_first() { return world_.rank() == 0; }
  void record_memory();
  void record_traffic();
  void record_clock();
  void write_timeline();
  void count_text(const Evaluate& evaluate);
  // Whether there is a step after this one: all ranks agree. Says why not.
  bool goes_on(std::int64_t step, ProgressLine& progress);
  double held_out_loss(const Evaluate& evaluate) const;
  void save_state(const StoredTensors& tensors) const;

  const LessonCard card_;
  Options options_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> nowhere_;  // where words that nobody needs go
  World world_;
  std::FILE* out_;
  std::optional<Sheet> sheet_;
  mutable std::unique_ptr<TokenSource> text_ = {};  // stories take a while: from the first batch on
  std::function<void(GlobalBatch&)> prepare_;
  Report report_;
  std::int64_t steps_done_ = 0;
  StepMeter meter_{world_};
};

// A lesson's main(): options, a Run, the lesson, the report. Returns the exit code.
int run_lesson(int argc, const char* const* argv, const LessonCard& card,
               const std::function<void(Run&)>& lesson_main);

}  // namespace shardlings
