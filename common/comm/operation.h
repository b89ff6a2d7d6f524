// A call on its way through a group: records first, then, when they agree, step by step.
#pragma once

#include <map>
#include <optional>

#include "comm/communicator.h"
#include "comm/device_collectives.h"

namespace shardlings {

// What the calls of one group share on this rank.
struct Communicator::Group {
  std::unique_ptr<Transport> transport;
  std::string axis;
  std::vector<std::int64_t> global_ranks;
  RankInstruments instruments;
  std::uint32_t calls = 0, scheduled = 0;
  std::map<int, std::uint32_t> sent = {}, received = {};  // messages, by partner
  std::unique_ptr<DeviceCollectives> library = {};        // null: ranks send to each other
  double lane_end = 0;  // of the latest collective, on the modelled clock

  int rank() const { return transport->rank(); }
  int size() const { return transport->size(); }
  const Link& link(int from, int to) const;
  const Link& slowest_link() const;
};

class Pending::Operation : public Exchange {
 public:
  // Posts the record. Buffers are taken from their devices now and returned by finish().
  Operation(std::shared_ptr<Communicator::Group> group, Call call,
            const std::array<double, 4>& values = {});
  ~Operation() override;

  bool advance() override;
  bool moves_much() const override;
  // After it is done: hands over to the compute stream, moves the clock, drops the buffers.
  void finish();

  Progress& progress() const { return group_->instruments.progress; }
  const std::vector<ControlRecord>& records() const { return records_; }

 private:
  void post_records();
  void compare_records() const;
  bool may_schedule() const;
  void schedule();
  double own_seconds() const;
  void begin_payload();
  void post(const Step& step);
  void end(const Step& step);
  void copy(const std::vector<LocalCopy>& copies) const;
  bool all_done();
  bool uses_library() const;
  bool advance_library();
  bool is_message() const { return call_.collective == Collective::message; }
  bool only_sends() const { return is_message() && mine().front().to != kNobody; }
  const Steps& mine() const;
  std::string title() const;  // "all_reduce gradients"
  Device& device() const { return call_.out.device(); }
  void* at(const Tensor& tensor, const Span& span) const;

  std::shared_ptr<Communicator::Group> group_;
  Call call_;
  int tag_;
  TrafficKey key_;
  std::vector<ControlRecord>
      records_;  // by rank; those of ranks that take no part stay as they are
  std::vector<int> record_to_, record_from_;
  std::vector<Transport::Request> requests_;
  bool payload_began_ = false, step_posted_ = false;
  std::size_t step_ = 0;
  Tensor scratch_;              // what is received to be added
  Tensor outgoing_, incoming_;  // on the host, where it cannot read the device
  double start_ = 0, end_ = 0;  // on the modelled clock
};

}  // namespace shardlings
