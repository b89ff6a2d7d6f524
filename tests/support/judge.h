// How the answer to an exercise is judged, and how a failing check speaks.
//
// The program of an exam is its checks, this library and one exercise.cpp. It runs the checks in
// their order and stops at the first that fails. Its first line, and its exit code:
//
//   passed: 14 checks of exercise 01                  0
//   not written yet: 1.2                              1, and not a line more
//   wrong: 1.2: what was to be true                   1, and up to 14 lines more: the case, what
//   was
//                                                     expected and measured, their ratio, what it
//                                                     suggests, where that is judged, two commands
//
// An answer that crashes or that takes five seconds for one case is wrong, and told so likewise.
#pragma once

#include <functional>
#include <source_location>
#include <string>
#include <vector>

#include "tests/support/clues.h"

namespace shardlings {

// What a failing check has to say. Empty members are left out.
struct Finding {
  std::string quantity = {};  // "gradient of h.0.mlp.c_fc.weight, element 17"
  std::string expected = {}, measured = {}, ratio = {}, suggests = {};
  std::source_location where = {};
};

class Judge;

struct Check {
  std::string step;   // "1.2"; of a check of the lesson's own code: "lesson 01"
  std::string claim;  // what is to be true: "gradients longer than max_norm are shortened to it"
  std::function<void(Judge&)> function;
};

struct Exam {
  std::string name;   // "exercise 01"
  std::string hint;   // the command that helps: "./shardlings hint 01"
  std::string again;  // the command that runs it again: "./shardlings check 01"
  std::vector<Check> checks;
};

class Judge {
 public:
  using Where = std::source_location;

  Judge(const Exam& exam, const Check& check) : exam_(exam), check_(check) {}

  // The case at hand: "tensors of 7, 35, 1 and 6 elements, f32, device guarded, max_norm 2.5". It
  // has five seconds.
  void now(std::string situation, Where where = Where::current());

  // |measured - expected| <= tolerance * |expected|
  void equal(const std::string& quantity, double measured, double expected, double tolerance,
             const Clues& clues = {}, Where where = Where::current()) const;
  // The same for tensors, each by its name, in the metric of compare.h: small tensors are measured
  // against `floor`.
  void equal(const std::string& quantity, const NamedValues& measured, const NamedValues& expected,
             double tolerance, double floor, const Clues& clues = {},
             Where where = Where::current()) const;
  // Anything else. `finding.where` is filled in here.
  void holds(bool condition, Finding finding, Where where = Where::current()) const;

  const std::string& situation() const { return situation_; }
  const Where& where() const { return where_; }  // of the case at hand

 private:
  const Exam& exam_;
  const Check& check_;
  std::string situation_;
  Where where_;
};

// Every program has its own; judge_main.cpp holds it.
extern const Exam kExam;

// Runs the checks, prints, and returns the exit code.
int run(const Exam& exam);

// What is printed for a finding: at most 15 lines of at most 100 columns.
std::string speak(const Exam& exam, const Check& check, const std::string& situation,
                  const Finding& finding);

}  // namespace shardlings
