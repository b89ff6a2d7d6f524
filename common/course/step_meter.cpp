#include "course/step_meter.h"

#include <algorithm>

namespace shardlings {

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

void StepMeter::begin() {
  work_before_ = world_.work().total();
  traffic_before_ = world_.traffic().total();
  clock_before_ = world_.clock().spent();
  world_.clock().take_events();  // of what was between the steps
  began_ = std::chrono::steady_clock::now();
  if (seconds_.empty()) first_began_ = began_;
}

void StepMeter::end() {
  seconds_.push_back(seconds_since(began_));
  work_ = world_.work().total() - work_before_;
  traffic_ = world_.traffic().since(traffic_before_);
  world_.clock().wait_until(world_.all().agree({world_.clock().now()}).front());
  clock_ = world_.clock().spent() - clock_before_;
  events_ = world_.clock().take_events();
  for (ClockEvent& event : events_) {
    event.begin -= clock_before_.total();
    event.end -= clock_before_.total();
  }
}

double StepMeter::median_seconds() const {
  std::vector<double> seconds = seconds_;
  const auto middle = seconds.begin() + std::ssize(seconds) / 2;
  std::ranges::nth_element(seconds, middle);
  return *middle;
}

double StepMeter::seconds_so_far() const {
  return seconds_since(first_began_);
}

}  // namespace shardlings
