#include "comm/operation.h"

#include <algorithm>

#include "base/hash.h"
#include "comm/timing.h"

namespace shardlings {

namespace {

// Message tags are only promised up to 2^15 - 1, which texts have. Calls of a group and messages of
// a pair of ranks are numbered apart.
int tag_of(std::uint32_t number, bool is_message) {
  return static_cast<int>(number % ((1 << 14) - 1)) * 2 + (is_message ? 1 : 0);
}

std::int64_t largest(const Steps& steps, Span Step::*span) {
  std::int64_t count = 0;
  for (const Step& step : steps) count = std::max(count, (step.*span).count);
  return count;
}

// What arrives to be added, on whichever rank it is largest: so every rank has equal room.
std::int64_t largest_reduced(const std::vector<Steps>& steps_of_ranks) {
  std::int64_t count = 0;
  for (const Steps& steps : steps_of_ranks)
    for (const Step& step : steps)
      if (step.reduce) count = std::max(count, step.receive.count);
  return count;
}

}  // namespace

const Link& Communicator::Group::link(int from, int to) const {
  return instruments.clock.cluster().link(global_ranks[static_cast<std::size_t>(from)],
                                          global_ranks[static_cast<std::size_t>(to)]);
}

const Link& Communicator::Group::slowest_link() const {
  return instruments.clock.cluster().slowest_link(global_ranks);
}

Pending::Operation::Operation(std::shared_ptr<Communicator::Group> group, Call call,
                              const std::array<double, 4>& values)
    : group_(std::move(group)),
      call_(std::move(call)),
      key_{group_->axis, std::string(name_of(call_.collective)), call_.what},
      records_(static_cast<std::size_t>(group_->size())) {
  ControlRecord& own = records_[static_cast<std::size_t>(group_->rank())];
  own = {.collective = call_.collective,
         .reduction = call_.reduction,
         .root = is_message() ? kNobody : call_.root,
         .what = static_cast<std::uint32_t>(hash_of(call_.what)),
         .count = call_.count,
         .values = values};
  if (is_message()) {
    const int partner = only_sends() ? mine().front().to : mine().front().from;
    own.sequence = (only_sends() ? group_->sent : group_->received)[partner]++;
    (only_sends() ? record_to_ : record_from_) = {partner};
  } else {
    own.sequence = group_->calls++;
    for (int i = 1; i < group_->size(); ++i)
      record_to_.push_back((group_->rank() + i) % group_->size());
    record_from_ = record_to_;
  }
  tag_ = tag_of(own.sequence, is_message());

  Clock& clock = group_->instruments.clock;
  own.clock = std::max(clock.now(), clock.earliest_start(group_->slowest_link()));
  if (only_sends()) {  // on its way at once; the sender goes on
    start_ = own.clock;
    end_ = start_ + own_seconds();
    clock.occupy(group_->slowest_link(), end_);
    clock.record(group_->axis, title(), start_, end_);
  }
  key_.recomputed = group_->instruments.work.recomputes();
  if (!call_.out.is_empty()) {
    const DType dtype = call_.out.dtype();
    own.dtype = static_cast<std::uint8_t>(dtype);
    key_.dtype = name_of(dtype);
    const auto buffer = [&](Device& where, std::int64_t count) {
      return count == 0 ? Tensor()
                        : Tensor(where, dtype, {count}, call_.what, Category::communication);
    };
    scratch_ = buffer(device(), largest_reduced(call_.steps));
    if (!device().host_can_access()) {
      outgoing_ = buffer(group_->instruments.host, largest(mine(), &Step::send));
      incoming_ = buffer(group_->instruments.host, largest(mine(), &Step::receive));
    }
    if (group_->size() > 1 && (!is_message() || only_sends()))
      group_->instruments.traffic.add_call(key_, call_.in.bytes());
  }
  group_->instruments.progress.recorder().note(
      fmt::format("{} {} {}, {}", group_->axis, key_.operation, key_.what, own.text()));
  post_records();
}

Pending::Operation::~Operation() {
  for (const Transport::Request request : requests_) group_->transport->cancel(request);
}

std::string Pending::Operation::title() const {
  return fmt::format("{} {}", key_.operation, key_.what);
}

const Steps& Pending::Operation::mine() const {
  static const Steps kNone;
  if (call_.steps.empty()) return kNone;
  return call_.steps.size() == 1 ? call_.steps.front()
                                 : call_.steps[static_cast<std::size_t>(group_->rank())];
}

void Pending::Operation::post_records() {
  for (const int rank : record_to_)
    requests_.push_back(
        group_->transport->start_send(&records_[static_cast<std::size_t>(group_->rank())],
                                      sizeof(ControlRecord), rank, Channel::control, tag_));
  for (const int rank : record_from_)
    requests_.push_back(group_->transport->start_receive(&records_[static_cast<std::size_t>(rank)],
                                                         sizeof(ControlRecord), rank,
                                                         Channel::control, tag_));
}

bool Pending::Operation::all_done() {
  const std::size_t before = requests_.size();
  std::erase_if(requests_, [&](Transport::Request r) { return group_->transport->done(r); });
  if (requests_.size() < before) group_->instruments.progress.recorder().beat();
  return requests_.empty();
}

bool Pending::Operation::advance() {
  if (!all_done()) return false;
  if (!payload_began_) {
    if (!may_schedule()) return false;
    compare_records();
    schedule();
    begin_payload();
  }
  if (uses_library()) return advance_library();
  for (; step_ < mine().size(); ++step_) {
    const Step& step = mine()[step_];
    if (!step_posted_) post(step);
    step_posted_ = true;
    if (!all_done()) return false;
    end(step);
    step_posted_ = false;
  }
  return true;
}

bool Pending::Operation::moves_much() const {
  constexpr std::int64_t kMuch = 64 * 1024;
  if (!payload_began_ || step_ >= mine().size()) return false;
  const Step& step = mine()[step_];
  return std::max(step.send.count, step.receive.count) * bytes_per_element(call_.out.dtype()) >
         kMuch;
}

bool Pending::Operation::uses_library() const {
  return group_->library != nullptr && !call_.out.is_empty() && device().kind() == "cuda";
}

// The library's own messages are not seen; the ring that does the same is counted.
bool Pending::Operation::advance_library() {
  if (!step_posted_) {
    std::int64_t elements = 0;
    for (const Step& step : mine()) elements += step.send.count;
    group_->instruments.traffic.add_ring_equivalent(
        key_, group_->slowest_link().name + " (ring equivalent)",
        elements * bytes_per_element(call_.in.dtype()));
    group_->library->start(call_);
    step_posted_ = true;
  }
  return group_->library->done();
}

void Pending::Operation::compare_records() const {
  const ControlRecord& own = records_[static_cast<std::size_t>(group_->rank())];
  for (const int rank : record_from_) {
    const ControlRecord& its = records_[static_cast<std::size_t>(rank)];
    if (!own.matches(its))
      fail(
          ExitCode::broken,
          "{}: this rank called {} ({}), but rank {} of the group called {}; every rank of a group "
          "makes the same calls in the same order",
          group_->axis, own.text(), call_.what, rank, its.text());
  }
}

// Collectives of a group take place on the clock in the order of their calls, whatever came first.
bool Pending::Operation::may_schedule() const {
  return is_message() ||
         records_[static_cast<std::size_t>(group_->rank())].sequence == group_->scheduled;
}

// Of this rank's own messages, one step after the other.
double Pending::Operation::own_seconds() const {
  const auto element = static_cast<double>(bytes_per_element(call_.out.dtype()));
  double seconds = 0;
  for (const Step& step : mine()) {
    const auto of = [&](int partner, const Span& span) {
      return span.count == 0 ? 0
                             : group_->link(group_->rank(), partner)
                                   .seconds(element * static_cast<double>(span.count));
    };
    seconds += std::max(of(step.to, step.send), of(step.from, step.receive));
  }
  return seconds;
}

// A transfer begins when the last of its ranks is ready. All ranks see the same records, and come
// to the same times.
void Pending::Operation::schedule() {
  if (only_sends()) return;
  if (!is_message())
    start_ = std::max(group_->lane_end, records_[static_cast<std::size_t>(group_->rank())].clock);
  for (const int rank : record_from_)
    start_ = std::max(start_, records_[static_cast<std::size_t>(rank)].clock);
  end_ = start_;
  if (call_.collective == Collective::scalars && group_->size() > 1) {
    end_ += group_->slowest_link().latency;
  } else if (call_.steps.size() == 1) {  // a message, or blocks whose sizes only this rank knows
    end_ += own_seconds();
  } else if (!call_.steps.empty()) {
    const std::vector<double> ends =
        finish_times(call_.steps, static_cast<double>(bytes_per_element(call_.out.dtype())), start_,
                     group_->instruments.clock.cluster(), group_->global_ranks);
    end_ = ends[static_cast<std::size_t>(group_->rank())];
    group_->lane_end = *std::ranges::max_element(ends);
  }
  if (!is_message()) group_->scheduled += 1;
}

void Pending::Operation::begin_payload() {
  payload_began_ = true;
  if (call_.out.is_empty()) return;
  device().wait(Stream::communication, device().record(Stream::compute));
  copy(call_.before);
}

void* Pending::Operation::at(const Tensor& tensor, const Span& span) const {
  return static_cast<std::byte*>(tensor.data()) + span.begin * bytes_per_element(tensor.dtype());
}

void Pending::Operation::post(const Step& step) {
  const std::int64_t element = bytes_per_element(call_.out.dtype());
  Transport& transport = *group_->transport;
  if (step.receive.count > 0) {
    void* to = !incoming_.is_empty() ? incoming_.data()
               : step.reduce         ? scratch_.data()
                                     : at(call_.out, step.receive);
    requests_.push_back(transport.start_receive(to, step.receive.count * element, step.from,
                                                Channel::payload, tag_));
  }
  if (step.send.count > 0) {
    const void* from = at(call_.in, step.send);
    const std::int64_t bytes = step.send.count * element;
    if (!outgoing_.is_empty()) {
      device().download(outgoing_.data(), from, bytes, Stream::communication);
      device().synchronize(Stream::communication);
      from = outgoing_.data();
    }
    group_->instruments.traffic.add_message(key_, group_->link(group_->rank(), step.to).name,
                                            bytes);
    requests_.push_back(transport.start_send(from, bytes, step.to, Channel::payload, tag_));
  }
}

void Pending::Operation::end(const Step& step) {
  if (step.receive.count == 0) return;
  void* place = at(call_.out, step.receive);
  void* arrived = step.reduce ? scratch_.data() : place;
  if (!incoming_.is_empty())
    device().upload(arrived, incoming_.data(),
                    step.receive.count * bytes_per_element(call_.out.dtype()),
                    Stream::communication);
  if (!step.reduce) return;
  const DType dtype = call_.out.dtype();
  if (call_.reduction == Reduction::sum)
    device().launch(
        Add{.dtype = dtype, .z = place, .x = place, .y = arrived, .count = step.receive.count},
        Stream::communication);
  else
    device().launch(
        Maximum{.dtype = dtype, .z = place, .x = place, .y = arrived, .count = step.receive.count},
        Stream::communication);
}

void Pending::Operation::copy(const std::vector<LocalCopy>& copies) const {
  for (const LocalCopy& copy : copies) {
    void* to = at(copy.to, copy.to_span);
    const void* from = at(copy.from, copy.from_span);
    if (to == from || copy.to_span.count == 0) continue;
    device().launch(Cast{.y_dtype = copy.to.dtype(),
                         .x_dtype = copy.to.dtype(),
                         .y = to,
                         .x = from,
                         .count = copy.to_span.count},
                    Stream::communication);
  }
}

void Pending::Operation::finish() {
  if (group_->size() > 1 && !only_sends()) {
    Clock& clock = group_->instruments.clock;
    const double waits_from = clock.now();
    clock.arrive(group_->slowest_link(), end_, end_ - start_);
    clock.record("compute", "waits for " + title(), waits_from, clock.now());
    clock.record(group_->axis, title(), start_, end_);
  }
  copy(call_.after);  // now, not when the last message came: until wait() nothing is promised
  if (!call_.out.is_empty()) device().wait(Stream::compute, device().record(Stream::communication));
  scratch_ = outgoing_ = incoming_ = {};
  call_ = {};
}

}  // namespace shardlings
