// What a wrong result looks like. Each diagnosis is asked for once, and so is what must not be
// taken for it.
#include "tests/support/clues.h"

#include <cmath>
#include <limits>

#include "tests/support/catch.h"

using namespace shardlings;

namespace {

const NamedValues kRight{{"bias", {3, -1}}, {"weight", {0.5, 2, -4}}};

// Pairwise different, so that a factor has one meaning.
const Clues kClues{
    .letters = {{"n", 4}, {"M", 3}, {"tokens", 37}, {"elements", 50}, {"tensors", 7}},
    .equal_to = {{"the last micro-batch alone", {{"bias", {1, 1}}, {"weight", {1, 2, 3}}}}},
    .differs_by = {{"the bias", {{"bias", {1, 1}}, {"weight", {0, 0, 0}}}}}};

NamedValues changed(double factor, const NamedValues& more = {}) {
  NamedValues result = kRight;
  for (auto& [name, values] : result)
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = factor * values[i] + (more.empty() ? 0 : more.at(name)[i]);
  return result;
}

Likeness look(const NamedValues& measured) {
  return likeness(measured, kRight, kClues);
}

Likeness look(double measured, double expected) {
  return likeness({{"", {measured}}}, {{"", {expected}}}, kClues);
}

}  // namespace

TEST_CASE("a factor is named by its letter") {
  struct Known {
    double factor;
    std::string ratio, suggests;
  };
  for (const auto& [factor, ratio, suggests] : std::vector<Known>{
           {4, "4 = n", "added up over ranks that each hold all of it"},
           {1. / 4, "0.25 = 1/n",
            "divided by the number of ranks once too often, or one rank's part alone"},
           {3, "3 = M", "added up over micro-batches where their mean was meant"},
           {1. / 3, "0.3333 = 1/M",
            "divided by the number of micro-batches once too often, or one of them alone"},
           {37, "37 = tokens", "a sum over tokens where their mean was meant"},
           {1. / 37, "0.02703 = 1/tokens", "divided by the number of tokens once too often"},
           {std::sqrt(3), "1.732 = sqrt(M)", "a norm in which each micro-batch counts"},
           {1 / std::sqrt(3), "0.5774 = 1/sqrt(M)", "a norm over one micro-batch"},
           {16, "16 = n^2", "added up over the ranks twice"},
           {1. / 50, "0.02 = 1/elements", "a mean over elements where their sum was meant"},
           {1 / std::sqrt(50), "0.1414 = 1/sqrt(elements)",
            "a mean of squares where their sum was meant"},
           {std::sqrt(7), "2.646 = sqrt(tensors)", "each tensor was treated as if it were alone"},
           {-1, "-1", "the sign is turned around"},
       }) {
    INFO(ratio);
    CHECK(look(changed(factor)).ratio == ratio);
    CHECK(look(changed(factor)).suggests == suggests);
    CHECK(look(factor * 2.5, 2.5).suggests == suggests);
  }
  CHECK(look(changed(2)).suggests == "a norm in which each rank's copy counts");  // sqrt(4)
  CHECK(likeness(changed(2), kRight, {}).suggests == "counted twice");
  CHECK(likeness(changed(4), kRight, {}).suggests.empty());
  CHECK(look(changed(4.1)).ratio == "4.1");
  CHECK(look(changed(4.1)).suggests.empty());
}

TEST_CASE("a difference is named") {
  const NamedValues& bias = kClues.differs_by[0].values;
  const auto times = [&](double factor) {
    NamedValues result = bias;
    for (double& value : result["bias"]) value *= factor;
    return result;
  };
  CHECK(look(changed(1, bias)).suggests == "the bias is in it once too often");
  CHECK(look(changed(1, times(3))).suggests == "the bias is in it 3 times too often");
  CHECK(look(changed(1, times(-1))).suggests == "the bias is missing");
  CHECK(look(changed(1, times(-0.5))).suggests == "the bias is in it 0.5 times too rarely");
  CHECK(look(5.5452 + std::log(4), 5.5452).suggests ==
        "ln n = 1.3863 too much: a softmax's sum has its terms n times");
}

TEST_CASE("the result of a known mistake is told before anything else") {
  CHECK(look(kClues.equal_to[0].values).suggests == "it equals the last micro-batch alone");
}

TEST_CASE("other shapes of wrong") {
  NamedValues permuted{{"bias", {-1, 3}}, {"weight", {2, 0.5, -4}}};
  CHECK(look(permuted).suggests == "these are the right values in another order");
  CHECK(look(changed(0)).suggests == "all of it is 0: nothing is left, or nothing arrived");
  NamedValues turned = kRight;
  turned["bias"] = {3, 1};
  CHECK(look(turned).ratio.empty());
  CHECK(look(turned).suggests ==
        "not one factor for all elements: the direction changed, cosine 0.9339");
  CHECK(look(changed(1.00002)).suggests.starts_with("close, but by more than rounding"));
  CHECK(look(std::nan(""), 1).suggests.starts_with("not a number"));
  CHECK(look(std::numeric_limits<double>::infinity(), 1).suggests.starts_with("infinity"));
  CHECK(look(1, 0).suggests.empty());
}

TEST_CASE("the worst element: NaN before all, and small tensors against the floor") {
  const double nan = std::nan("");
  const NamedValues right{{"a", {1, 2}}, {"b", {1e-9, 0}}};
  CHECK(!worst_mismatch(right, right, 0, 0));
  CHECK(!worst_mismatch({{"a", {1, 2.1}}, {"b", {0, 0}}}, right, 0.1, 1));
  const auto worst = worst_mismatch({{"a", {1, 2.1}}, {"b", {2e-9, 0}}}, right, 1e-3, 0);
  REQUIRE(worst);
  CHECK(worst->name == "b");
  CHECK(worst->index == 0);
  for (const std::vector<double>& values : {std::vector<double>{nan, 2}, {1, nan}}) {
    const auto found = worst_mismatch({{"a", values}, {"b", {5, 5}}}, right, 1e-3, 0);
    REQUIRE(found);
    CHECK(std::isnan(found->got));
  }
  CHECK(difference({{"a", {nan, 2}}}, {{"a", {1, 2}}}, 1, 1) != "");
  CHECK(difference({}, right, 1, 1) == "a is missing");
  CHECK(difference({{"a", {1}}}, {{"a", {1, 2}}}, 1, 1) == "a: 1 values, 2 expected");
}
