#include "budget/verdict.h"

#include <fmt/core.h>

#include <cmath>

#include "base/random.h"
#include "budget/letters.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

// Pairwise different letters, so that a factor has one meaning.
Values distinct(double n, std::string_view policy = "bf16_f32_grads") {
  Values values = letters({.L = 10, .D = 138, .H = 6, .T = 47, .V = 61}, 11, policy);
  values["n"] = n;
  values["M"] = 7;
  return values;
}

std::string verdict(double value, double measured, double n = 5) {
  return compare({.value = value, .measured = measured, .letters = distinct(n)}).text;
}

}  // namespace

TEST_CASE("exact is equal but for the rounding of doubles") {
  CHECK(verdict(836224, 836224) == "exact");
  CHECK(verdict(0, 0) == "exact");
  CHECK(verdict(0.1 * 3 * 1e12, 3e11) == "exact");
  CHECK(verdict(10. / 3, 3.3333333333333335) == "exact");  // a mean over three ranks
  CHECK(verdict(3.0000000005, 3) == "exact");
  CHECK(verdict(3.00000001, 3) == "close");
  for (const double bytes : {1e3, 1e9, 1e12, 1e14}) {
    CHECK(verdict(bytes, bytes) == "exact");
    CHECK(verdict(bytes + 1, bytes) == "close");
  }
  CHECK(verdict(9007199254740991, 9007199254740991) == "exact");
}

TEST_CASE("close is within one per cent") {
  CHECK(verdict(1010, 1000) == "close");
  CHECK(verdict(990, 1000) == "close");
  CHECK(verdict(1011, 1000) == "1.01× too large");
  CHECK(verdict(989, 1000) == "1.01× too small");
  const Verdict close = compare({.value = 1005, .measured = 1000, .letters = distinct(5)});
  CHECK(close.text == "close");
  CHECK(close.hint == "too large by 5");
}

TEST_CASE("nothing on one side has no ratio") {
  CHECK(verdict(512, 0) == "512 where nothing was measured");
  CHECK(verdict(0, 512) == "0 where 512 was measured");
}

TEST_CASE("a factor with a name is named, in both directions") {
  const std::string whole = "every rank still counted all of it";
  const std::string share = "one rank's share was counted, of something each of them has whole";
  const std::string elements = "elements were counted, not bytes";
  struct Known {
    double ratio;
    const char* name;
    std::string too_large, too_small;
  };
  for (const auto& [ratio, name, too_large, too_small] : std::vector<Known>{
           {5, "n", whole, share},
           {7, "M", "counted once per micro-batch", "one micro-batch was counted, a step has M"},
           {2, "w", "the bytes per element are in it twice", elements},
           {4, "g", "the bytes per element are in it twice", elements},
           {12, "o", "the bytes per element are in it twice", elements},
           {10, "L", "counted once per layer", "one layer was counted"},
           {6, "H", "counted once per head", "one head was counted"},
           {11, "B", "counted once per sequence", "one sequence was counted, the batch has B"},
           {47, "T", "counted once per token", "one token was counted, a sequence has T"},
           {517, "B*T", "counted once per token", "one token was counted, the batch has B*T"},
           {138, "D", "the width is in it twice", "the width is not in it"},
           {61, "V", "the vocabulary is in it twice", "the vocabulary is not in it"},
           {3, "3", "counted three times", "forward alone: backward is twice its work"},
           {1.25, "n/(n-1)", "a rank's own part does not travel",
            "one part too many stays at home"},
           {35, "n*M", "counted on every rank and for every micro-batch",
            "one rank's part of one micro-batch was counted"},
           {25, "n^2", "multiplied by n where it shrinks with n",
            "divided by n where it grows with n"},
           {std::sqrt(5), "n^0.5", "a root of n is in it", "a root of n is missing"},
           {8, "8", "bits were counted, not bytes", "an eighth was counted"},
           {1048576, "1024^2", "rows are plain bytes", "MiB were counted, not bytes"}}) {
    const double measured = 2048;
    const std::string times = ratio >= 100  ? ratio > 1e6 ? "1,048,576" : fmt::format("{}", ratio)
                               : ratio >= 10 ? fmt::format("{:.1f}", ratio)
                                            : fmt::format("{:.2f}", ratio);
    CHECK(verdict(measured * ratio, measured) ==
          fmt::format("{}× too large = {}: {}", times, name, too_large));
    CHECK(verdict(measured, measured * ratio) ==
          fmt::format("{}× too small = {}: {}", times, name, too_small));
  }
  CHECK(verdict(2048 * 16, 2048, 8) ==
        "16.0× too large = 2*n: every rank still counted all of it, twice");
  Values f32 = letters(model_named("nano"), 8, "f32");
  CHECK(compare({.value = 836224, .measured = 4 * 836224, .letters = f32}).text ==
        "4.00× too small = w: elements were counted, not bytes");
}

TEST_CASE("a factor without a name is left plain") {
  CHECK(compare({.value = 500, .measured = 100}).text == "5.00× too large");  // no letters
  CHECK(verdict(327, 100) == "3.27× too large");
  CHECK(verdict(100, 327) == "3.27× too small");
  CHECK(verdict(9996, 1000) == "10.0× too large = L: counted once per layer");
  CHECK(verdict(4990, 1000) == "4.99× too large");  // n = 5 is 0.2 % away
  // Of ratios from 1.02 to 2000, evenly on a logarithmic scale, few are near one of thirty factors.
  const RandomStream random(1, "ratios");
  int named = 0;
  for (std::uint64_t i = 0; i < 100; ++i) {
    const double ratio = 1.02 * std::exp(random.uniform(i) * std::log(2000 / 1.02));
    const std::string text = verdict(1e9 * ratio, 1e9);
    REQUIRE(text.find("too large") != std::string::npos);
    if (text.find('=') != std::string::npos) ++named;
  }
  CHECK(named <= 3);
}

TEST_CASE("a difference that has a name is told by what it is, in bytes or elements") {
  const Values values = distinct(5);
  const double D = 138, L = 10, T = 47, V = 61, P = values.at("P");
  const auto of = [&](double value, double measured) {
    const Verdict verdict = compare({.value = value, .measured = measured, .letters = values});
    return verdict.text == "close" ? verdict.hint : verdict.text;
  };
  CHECK(of(P + V * D, P) ==
        "too large by 8,418: as much as the token embedding, which is also the output matrix");
  CHECK(of(P - 13 * L * D, P) ==
        "too small by 17,940: as much as the biases and LayerNorms of the blocks");
  CHECK(of(P - 13 * L * D - 2 * D, P) ==
        "too small by 18,216: as much as all biases and LayerNorms");
  CHECK(of(P - 2 * D, P) == "too small by 276: as much as the final LayerNorm");
  CHECK(of(P - T * D, P) == "too small by 6,486: as much as the position embedding");
  CHECK(of(P + T * D, P) == "too large by 6,486: as much as the position embedding");
  CHECK(of(2 * (P - T * D), 2 * P) == "too small by 12,972: as much as the position embedding");
  CHECK(of(12 * (P - 2 * D), 12 * P) == "too small by 3,312: as much as the final LayerNorm");
  CHECK(of(V * D + T * D, P) == "156× too small");
  CHECK(of(P - 9 * L * D - 1, P) == "too small by 12,421");
}

TEST_CASE("a difference that is one of the row's own terms is told by that term") {
  Comparison run{
      .value = 130, .measured = 100, .letters = distinct(5), .terms = {{"a*b", 100}, {"c", 30}}};
  CHECK(compare(run).text == "too large by 30: as much as your term c");
  run.measured = 160;
  CHECK(compare(run).text == "too small by 30: as much as your term c once more");
  run.terms = {{"a*b + c", 130}};  // a row of one term is a factor away from its double
  run.measured = 260;
  CHECK(compare(run).text.starts_with("2.00× too small"));
}

TEST_CASE("several runs tell apart what is equal in one") {
  const auto run = [](double ratio, double n, std::string_view policy) {
    return Comparison{.value = 1000 * ratio, .measured = 1000, .letters = distinct(n, policy)};
  };
  // n = w = g in the first alone
  CHECK(compare(run(4, 4, "f32")).text.find("= n:") != std::string::npos);
  const Verdict bytes = compare(std::vector{run(4, 4, "f32"), run(8, 4, "f64"), run(2, 4, "bf16")});
  CHECK(bytes.text == "4.00× too large = w: the bytes per element are in it twice");
  CHECK(bytes.where == 0);
  CHECK(
      compare(std::vector{run(4, 4, "f32"), run(4, 4, "bf16_f32_grads"), run(8, 4, "f64")}).text ==
      "4.00× too large = g: the bytes per element are in it twice");
  // right where n is 1
  const Verdict ranks = compare(std::vector{run(1, 1, "f32"), run(2, 2, "f32"), run(3, 3, "f32")});
  CHECK(ranks.text == "2.00× too large = n: every rank still counted all of it");
  CHECK(ranks.where == 1);
  // nothing travels on one rank
  Comparison alone = run(1, 1, "f32");
  alone.measured = 0;
  const Verdict travel = compare(std::vector{alone, run(2, 2, "f32"), run(1.5, 3, "f32")});
  CHECK(travel.text == "2.00× too large = n/(n-1): a rank's own part does not travel");
  CHECK(travel.where == 1);
  // no factor fits both
  CHECK(compare(std::vector{run(2, 2, "f32"), run(7.3, 3, "f32")}).text == "2.00× too large");
  CHECK(compare(std::vector{run(1, 2, "f32"), run(1.005, 3, "f32")}).text == "close");
  CHECK(compare(std::vector{run(1, 2, "f32"), run(1, 3, "f32")}).text == "exact");
}
