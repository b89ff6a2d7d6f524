// The command line of a lesson's program: the common options, and the lesson's own knobs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/axis.h"
#include "base/model_size.h"
#include "course/setting.h"

namespace shardlings {

struct Options {
  std::string model = "nano";
  ModelSize size = {};  // of that preset, with what the command line overrides

  std::int64_t batch = 8;  // sequences per optimizer step
  std::int64_t steps = 1000;
  double time_limit_seconds = 0;  // 0: none
  double learning_rate = 2e-3;
  std::int64_t warmup_steps = 20;
  double weight_decay = 0.1;
  double clip = 1;  // largest gradient norm; 0: no clipping
  std::int64_t seed = 1;
  std::string dtype = "f32";

  std::string text = {};                  // a file; "": the built-in stories
  std::int64_t evaluate_every_steps = 0;  // 0: at the end only
  std::int64_t sample_bytes = 200;        // drawn from the model at the end
  std::string output = {};                // the directory of the report
  std::string init = {}, export_to = {};  // directories of GPT-2 checkpoints; "": none
  std::string resume = {}, save = {};     // a training state, and the directory of such
  std::string sheet = "mine";             // the hand budget: "mine", "solution" or a file
  std::string judge = "run";              // or "sheet": only the hand budget, over small runs
  bool quiet = false;                     // no progress, no sample

  std::int64_t ranks = 1;
  std::string launcher = "threads";  // of several ranks: "threads" of this process, or "mpi"
  std::string cluster = {};          // of the modelled clock; "": none
  std::int64_t chips_per_node = 0;   // of that cluster; 0: as many as it has

  std::string backend = "cpu";
  std::int64_t threads = 0;              // 0: one per core
  std::int64_t device_memory_bytes = 0;  // 0: no cap

  Settings knobs = {};  // what the lesson's own options are set to
  bool help = false;    // help was asked for, and nothing else has been read
};

// An option of one lesson. The type of `initial` says what it takes: a word out of `allowed`, or a
// whole or decimal number from `lowest` to `highest`; without `allowed`, a path. Read back by name,
// with Run::number() and Run::word().
struct Knob {
  std::string name;  // "schedule" is set by --schedule
  Setting initial;
  std::string_view help = {};
  std::vector<std::string_view> allowed = {};
  std::int64_t lowest = 0;
  std::int64_t highest = 1'000'000;
  std::string_view letter = {};  // of a number, in formulas; without one, its name
  // What it is set to, in turn, in the small runs that judge the hand budget.
  std::vector<Setting> judged_with = {};
};

// The lesson that another builds on, for the trade between them: its own hand budget, which is
// exact, says what its run would have cost.
struct Baseline {
  std::string_view folder = {};  // "01_training_step"
  // Letters that differ there from this lesson's, as formulas over this lesson's: {"B", "batch"}.
  std::map<std::string, std::string> letters = {};
};

struct LessonCard {
  int number = 0;
  std::string_view slug = {};   // "training_step"
  std::string_view title = {};  // the one idea, in a line
  Options defaults = {};        // of its sizes, T alone may differ from the preset's
  std::vector<Knob> knobs = {};
  std::vector<std::string_view> letters_to_find = {};   // that the hand budget is not given
  std::vector<std::string_view> rows_to_estimate = {};  // where within 1 % of a real size will do
  Baseline builds_on = {};                              // nothing: no trade
  std::optional<Axis> axis = {};                        // that ranks lie on; none: one rank only
  bool state_is_sharded = false;  // no rank has all that --save keeps: there is none, nor --resume
};

// "01_training_step": the folder of the lesson, and of its reports below runs/.
std::string lesson_folder(const LessonCard& card);

// The lesson's defaults, changed by `arguments` (argv without the program's name). A value is the
// next argument or follows '='; -h or --help anywhere wins.
// Errors: Error(usage), one line with the option, what it takes and what it got; several wrong
// values, and all rules that the sizes of the model break, are listed together.
Options parse_options(const LessonCard& card, std::span<const char* const> arguments);

// What --help prints: every option with its default, in 80 columns.
std::string help_text(const LessonCard& card);

}  // namespace shardlings
