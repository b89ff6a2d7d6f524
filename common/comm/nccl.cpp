#include <cuda_runtime_api.h>
#include <nccl.h>

#include <algorithm>
#include <utility>

#include "comm/device_collectives.h"
#include "device/cuda/cuda.h"
#include "device/cuda/cuda_check.h"

namespace shardlings {

namespace {

void check_nccl(ncclResult_t result, const char* call, const char* where) {
  if (result == ncclSuccess || result == ncclInProgress) return;
  fail(ExitCode::broken, "{} ({}): {}; NCCL_DEBUG=WARN says more", call, where,
       ncclGetErrorString(result));
}
#define NCCL_CHECK(...) \
  check_nccl(__VA_ARGS__, #__VA_ARGS__, __FILE__ ":" SHARDLINGS_TEXT(__LINE__))

ncclDataType_t type_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return ncclFloat32;
    case DType::f64:
      return ncclFloat64;
    case DType::bf16:
      return ncclBfloat16;
    case DType::i32:
      return ncclInt32;
  }
  return ncclInt8;
}

class Nccl final : public DeviceCollectives {
 public:
  Nccl(ncclComm_t group, Device& device, int rank, int size)
      : group_(group),
        device_(device),
        stream_(static_cast<cudaStream_t>(cuda_stream(device, Stream::communication))),
        rank_(rank),
        size_(size) {}
  // Not ncclCommDestroy, which waits for ranks that may be gone.
  ~Nccl() override { static_cast<void>(ncclCommAbort(group_)); }

  void start(const Call& call) override {
    NCCL_CHECK(ncclGroupStart());
    switch (call.collective) {
      case Collective::all_reduce:
        NCCL_CHECK(ncclAllReduce(call.in.data(), call.out.data(), count_of(call),
                                 type_of(call.out.dtype()), operation_of(call), group_, stream_));
        break;
      case Collective::reduce_scatter:
        reduce_scatter(call);
        break;
      case Collective::all_gather:
        all_gather(call);
        break;
      case Collective::broadcast:
        NCCL_CHECK(ncclBroadcast(call.in.data(), call.out.data(), count_of(call),
                                 type_of(call.out.dtype()), call.root, group_, stream_));
        break;
      default:
        messages(call);
    }
    NCCL_CHECK(ncclGroupEnd());
  }

  bool done() override {
    ncclResult_t state = ncclSuccess;
    NCCL_CHECK(ncclCommGetAsyncError(group_, &state));
    check_nccl(state, "a collective under way", "another rank, or the network");
    const cudaError_t status = cudaStreamQuery(stream_);
    if (status == cudaErrorNotReady) return false;
    CUDA_CHECK(status);
    return true;
  }

  std::unique_ptr<DeviceCollectives> split(const std::vector<int>& members) override {
    const int place = static_cast<int>(std::ranges::find(members, rank_) - members.begin());
    ncclComm_t group = nullptr;
    NCCL_CHECK(ncclCommSplit(group_, *std::ranges::min_element(members), place, &group, nullptr));
    return std::make_unique<Nccl>(group, device_, place, static_cast<int>(members.size()));
  }

 private:
  static std::size_t count_of(const Call& call) {
    return static_cast<std::size_t>(call.out.elements());
  }
  static ncclRedOp_t operation_of(const Call& call) {
    return call.reduction == Reduction::sum ? ncclSum : ncclMax;
  }
  static void* at(const Tensor& x, const Span& span) {
    return static_cast<std::byte*>(x.data()) + span.begin * bytes_per_element(x.dtype());
  }

  // Shards of one size have a collective of their own; the last one may be shorter.
  bool even(const Call& call) const { return call.out.elements() % size_ == 0; }

  void reduce_scatter(const Call& call) {
    const std::int64_t N = call.out.elements();
    const ncclDataType_t type = type_of(call.out.dtype());
    if (even(call)) {
      NCCL_CHECK(ncclReduceScatter(call.in.data(), at(call.out, shard(N, size_, rank_)),
                                   static_cast<std::size_t>(N / size_), type, operation_of(call),
                                   group_, stream_));
      return;
    }
    for (int root = 0; root < size_; ++root) {
      const Span span = shard(N, size_, root);
      if (span.count > 0)
        NCCL_CHECK(ncclReduce(at(call.in, span), at(call.out, span),
                              static_cast<std::size_t>(span.count), type, operation_of(call), root,
                              group_, stream_));
    }
  }

  void all_gather(const Call& call) {
    const std::int64_t N = call.out.elements();
    const ncclDataType_t type = type_of(call.out.dtype());
    if (even(call)) {
      NCCL_CHECK(ncclAllGather(at(call.out, shard(N, size_, rank_)), call.out.data(),
                               static_cast<std::size_t>(N / size_), type, group_, stream_));
      return;
    }
    for (int root = 0; root < size_; ++root) {
      const Span span = shard(N, size_, root);
      if (span.count > 0)
        NCCL_CHECK(ncclBroadcast(at(call.out, span), at(call.out, span),
                                 static_cast<std::size_t>(span.count), type, root, group_,
                                 stream_));
    }
  }

  // Steps that only move: all at once.
  void messages(const Call& call) {
    const Steps& steps =
        call.steps.size() == 1 ? call.steps.front() : call.steps[static_cast<std::size_t>(rank_)];
    const ncclDataType_t type = type_of(call.out.dtype());
    for (const Step& step : steps) {
      if (step.send.count > 0)
        NCCL_CHECK(ncclSend(at(call.in, step.send), static_cast<std::size_t>(step.send.count), type,
                            step.to, group_, stream_));
      if (step.receive.count > 0)
        NCCL_CHECK(ncclRecv(at(call.out, step.receive),
                            static_cast<std::size_t>(step.receive.count), type, step.from, group_,
                            stream_));
    }
  }

  ncclComm_t group_;
  Device& device_;
  cudaStream_t stream_;
  int rank_, size_;
};

}  // namespace

std::string why_no_nccl() {
  return why_no_cuda();
}

std::unique_ptr<DeviceCollectives> make_nccl(Device& device, int rank, int size,
                                             const ShareId& share_id) {
  static_assert(sizeof(ncclUniqueId) == sizeof(Id));
  ncclUniqueId id{};
  if (rank == 0) NCCL_CHECK(ncclGetUniqueId(&id));
  Id shared;
  std::copy_n(id.internal, shared.size(), shared.data());
  shared = share_id(shared);
  std::copy_n(shared.data(), shared.size(), id.internal);
  ncclComm_t group = nullptr;
  NCCL_CHECK(ncclCommInitRank(&group, size, id, rank));
  return std::make_unique<Nccl>(group, device, rank, size);
}

}  // namespace shardlings
