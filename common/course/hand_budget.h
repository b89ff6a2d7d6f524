// The hand budget of a lesson beside what its runs measure.
#pragma once

#include <filesystem>
#include <string>

#include "budget/letters.h"
#include "budget/verdict.h"
#include "course/options.h"
#include "course/report.h"

namespace shardlings {

// exercises/NN_slug/budget.toml for "mine", solutions/NN_slug/budget.toml for "solution", else the
// file that `choice` names.
std::filesystem::path sheet_path(const LessonCard& card, const std::string& choice);

// The letters of a run: sizes, bytes per element and knobs, without those that this lesson wants
// found. A knob that takes a word gives a letter for each word: 1 when it is taken, else 0. Several
// ranks on a cluster have k, those on a node, and alpha and beta of its links, in seconds and bytes
// per second: alpha_inside, beta_inside, alpha_between, beta_between.
Values letters_of(const LessonCard& card, const Options& options, std::int64_t rank = 0);

// Writes formula, budget and verdict into every row of the report that the sheet has, on every
// rank. Errors: those of evaluate() and judge().
void add_budget(Report& report, const Sheet& sheet, const LessonCard& card, const Options& options);

// What this run saves and costs against the lesson that its own builds on, in the same setting.
// Each part is there if that lesson's sheet has its row: "model_and_activations" for memory,
// "executed FLOPs per step"; what ranks send, if there are several; the communication that is
// exposed on the modelled clock, if the other lesson sends nothing. Errors: those of read_sheet()
// and evaluate().
Trade trade_against(const Baseline& baseline, const Report& report, const Values& letters);

// What the report measured on a rank, under the names of a sheet's tables; [let] has P. A row of
// traffic is "axis operation what": what a rank sends in a collective is the mean over all ranks,
// since remainders fall to some of them; what it sends to one partner is its own.
Configuration configuration_of(const Report& report, std::string name, const Values& letters,
                               std::int64_t rank = 0);

}  // namespace shardlings
