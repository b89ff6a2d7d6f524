#include "budget/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "budget/words.h"

namespace shardlings {

namespace {

// What factors usually mean. The first that fits is named, so the likeliest stand first.
struct Factor {
  const char* formula;
  const char* too_large;
  const char* too_small;
};

constexpr const char* kWhole = "every rank still counted all of it";
constexpr const char* kShare = "one rank's share was counted, of something each of them has whole";
constexpr const char* kBytesTwice = "the bytes per element are in it twice";
constexpr const char* kElements = "elements were counted, not bytes";

constexpr Factor kFactors[] = {
    {"n", kWhole, kShare},
    {"dp", kWhole, kShare},
    {"tp", kWhole, kShare},
    {"pp", kWhole, kShare},
    {"cp", kWhole, kShare},
    {"ep", kWhole, kShare},
    {"k", "every rank of a node still counted it", "one rank of a node was counted"},
    {"M", "counted once per micro-batch", "one micro-batch was counted, a step has M"},
    {"w", kBytesTwice, kElements},
    {"g", kBytesTwice, kElements},
    {"o", kBytesTwice, kElements},
    {"a", kBytesTwice, kElements},
    {"L", "counted once per layer", "one layer was counted"},
    {"H", "counted once per head", "one head was counted"},
    {"B", "counted once per sequence", "one sequence was counted, the batch has B"},
    {"T", "counted once per token", "one token was counted, a sequence has T"},
    {"B*T", "counted once per token", "one token was counted, the batch has B*T"},
    {"D", "the width is in it twice", "the width is not in it"},
    {"V", "the vocabulary is in it twice", "the vocabulary is not in it"},
    {"2", "counted twice", "one of a pair: moments, directions, phases, multiply and add"},
    {"3", "counted three times", "forward alone: backward is twice its work"},
    {"4", "counted four times", "one of four was counted"},
    {"n-1", "counted at every hop", "one hop was counted"},
    {"n/(n-1)", "a rank's own part does not travel", "one part too many stays at home"},
    {"2*n", "every rank still counted all of it, twice", "a share was counted, and half of it"},
    {"n*M", "counted on every rank and for every micro-batch",
     "one rank's part of one micro-batch was counted"},
    {"n^2", "multiplied by n where it shrinks with n", "divided by n where it grows with n"},
    {"n^0.5", "a root of n is in it", "a root of n is missing"},
    {"L^0.5", "a root of L is in it", "a root of L is missing"},
    {"8", "bits were counted, not bytes", "an eighth was counted"},
    {"1024", "rows are plain bytes", "KiB were counted, not bytes"},
    {"1024^2", "rows are plain bytes", "MiB were counted, not bytes"},
};

// What a difference may be, counted in elements or in bytes.
struct Part {
  const char* formula;
  const char* name;
};

constexpr Part kParts[] = {
    {"2*D", "the final LayerNorm"},
    {"V*D", "the token embedding, which is also the output matrix"},
    {"T*D", "the position embedding"},
    {"V*D + T*D", "both embeddings"},
    {"4*L*D", "the LayerNorms of the blocks"},
    {"9*L*D", "the biases of the blocks"},
    {"13*L*D", "the biases and LayerNorms of the blocks"},
    {"4*L*D + 2*D", "all LayerNorms"},
    {"13*L*D + 2*D", "all biases and LayerNorms"},
    {"12*L*D^2", "the matrices of the blocks"},
    {"B*T*V", "the logits"},
    {"B*T*D", "one activation as wide as the model"},
};

constexpr const char* kSizes[] = {"1", "w", "g", "o", "a"};  // of an element

bool exactly(double value, double measured) {
  constexpr double kRounding = 16 * std::numeric_limits<double>::epsilon();
  return std::abs(value - measured) <= std::max(1e-9, kRounding * std::abs(measured));
}

bool within(double share, double value, double measured) {
  return std::abs(value - measured) <= share * std::abs(measured);
}

using Runs = std::vector<const Comparison*>;

// The worth of a diagnosis in a run: NaN, which fits nothing, where a letter is not there or has no
// use, as in 1/(n-1) for n = 1.
double worth(const Formula& formula, const Comparison& run) {
  for (const Formula::Name& name : formula.names())
    if (!run.letters.contains(name.text)) return std::nan("");
  try {
    return formula.value(run.letters);
  } catch (const FormulaError&) {
    return std::nan("");
  }
}

// "the final LayerNorm": what `value` has in excess of `measured` in all runs, or lacks.
std::string name_of_difference(const Runs& runs, bool excess) {
  const double sign = excess ? 1 : -1;
  for (std::size_t i = 0; i < runs.front()->terms.size() && runs.front()->terms.size() > 1; ++i)
    if (std::ranges::all_of(runs, [&](const Comparison* run) {
          return exactly(run->value, run->measured + sign * run->terms[i].value);
        }))
      return fmt::format("your term {}{}", runs.front()->terms[i].text, excess ? "" : " once more");
  for (const auto& [formula, name] : kParts)
    for (const char* size : kSizes) {
      const Formula part(fmt::format("{} * ({})", size, formula));
      if (std::ranges::all_of(runs, [&](const Comparison* run) {
            return exactly(run->value, run->measured + sign * worth(part, *run));
          }))
        return name;
    }
  return "";
}

// " = n: every rank still counted all of it", or "" when no factor fits all runs.
std::string name_of_ratio(const Runs& runs, bool too_large) {
  for (const Factor& factor : kFactors) {
    const Formula formula(factor.formula);
    if (std::ranges::all_of(runs, [&](const Comparison* run) {
          const double times = worth(formula, *run);
          return too_large ? within(1e-3, run->value, run->measured * times)
                           : within(1e-3, run->value * times, run->measured);
        }))
      return fmt::format(" = {}: {}", factor.formula,
                         too_large ? factor.too_large : factor.too_small);
  }
  return "";
}

// Three digits: "3.27", "16.0", "1,048,576".
std::string format_ratio(double ratio) {
  if (ratio >= 99.95) return format_amount(std::round(ratio));
  return fmt::format("{:.{}f}", ratio, ratio < 9.995 ? 2 : 1);
}

std::string describe_difference(const Comparison& run, const std::string& name) {
  return fmt::format("too {} by {}{}{}", run.value > run.measured ? "large" : "small",
                     format_amount(std::abs(run.value - run.measured)),
                     name.empty() ? "" : ": as much as ", name);
}

std::string describe_ratio(const Comparison& run, const Runs& runs) {
  const bool too_large = run.value > run.measured;
  const double ratio = too_large ? run.value / run.measured : run.measured / run.value;
  return fmt::format("{}× too {}{}", format_ratio(ratio), too_large ? "large" : "small",
                     name_of_ratio(runs, too_large));
}

bool has_ratio(const Comparison& run) {
  return run.value > 0 && run.measured > 0;
}

}  // namespace

Verdict compare(const Comparison& run) {
  return compare(std::span(&run, 1));
}

Verdict compare(std::span<const Comparison> runs) {
  CHECK(!runs.empty(), "nothing to compare");
  // The first run that `kind` holds for, or one past the last.
  const auto first = [&](auto kind) {
    return static_cast<std::size_t>(std::ranges::find_if(runs, kind) - runs.begin());
  };
  const auto off = [](const Comparison& run) {
    return !within(0.01, run.value, run.measured) && !exactly(run.value, run.measured);
  };
  std::size_t where = first([&](const Comparison& run) { return off(run) && has_ratio(run); });
  if (where == runs.size()) where = first(off);
  const bool close = where == runs.size();
  if (close) where = first([](const Comparison& run) { return !exactly(run.value, run.measured); });
  if (where == runs.size()) return {.text = "exact"};

  const Comparison& worst = runs[where];
  if (!has_ratio(worst))
    return {.text = fmt::format("{} where {} was measured", format_amount(worst.value),
                                worst.measured == 0 ? "nothing" : format_amount(worst.measured)),
            .where = where};
  Runs telling;
  for (const Comparison& run : runs)
    if (has_ratio(run)) telling.push_back(&run);
  const std::string name = name_of_difference(telling, worst.value > worst.measured);
  const std::string difference = describe_difference(worst, name);
  if (close) return {.text = "close", .hint = difference, .where = where};
  return {.text = name.empty() ? describe_ratio(worst, telling) : difference, .where = where};
}

}  // namespace shardlings
