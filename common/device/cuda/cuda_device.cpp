#include <nvtx3/nvToolsExt.h>

#include <array>
#include <cstring>
#include <deque>
#include <vector>

#include "device/cpu/cpu_device.h"
#include "device/cuda/cuda.h"
#include "device/cuda/cuda_check.h"
#include "device/cuda/cuda_stream.h"

namespace shardlings {

namespace {

// Page-locked host memory through which uploads pass, so that they may return before the GPU has
// read what was uploaded: pieces used in turn, each again when its last copy is done.
class Staging {
 public:
  Staging() = default;
  ~Staging() {
    for (const Piece& piece : pieces_) {
      if (piece.memory == nullptr) continue;
      static_cast<void>(cudaFreeHost(piece.memory));
      static_cast<void>(cudaEventDestroy(piece.copied));
    }
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  void upload(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
    for (std::size_t done = 0; done < bytes; done += kPieceBytes) {
      const Piece& piece = next();
      const std::size_t part = std::min(kPieceBytes, bytes - done);
      std::memcpy(piece.memory, static_cast<const std::byte*>(from) + done, part);
      CUDA_CHECK(cudaMemcpyAsync(static_cast<std::byte*>(to) + done, piece.memory, part,
                                 cudaMemcpyHostToDevice, stream));
      CUDA_CHECK(cudaEventRecord(piece.copied, stream));
    }
  }

 private:
  static constexpr std::size_t kPieceBytes = 1 << 20;

  struct Piece {
    void* memory = nullptr;
    cudaEvent_t copied = nullptr;
  };

  const Piece& next() {
    Piece& piece = pieces_[turn_++ % pieces_.size()];
    if (piece.memory == nullptr) {
      CUDA_CHECK(cudaEventCreateWithFlags(&piece.copied, cudaEventDisableTiming));
      CUDA_CHECK(cudaHostAlloc(&piece.memory, kPieceBytes, cudaHostAllocDefault));
    } else {
      CUDA_CHECK(cudaEventSynchronize(piece.copied));
    }
    return piece;
  }

  std::array<Piece, 16> pieces_;
  std::size_t turn_ = 0;
};

// The events of one stream that somebody may still wait for, the oldest first.
class Events {
 public:
  Events() = default;
  ~Events() {
    for (const cudaEvent_t event : waiting_) static_cast<void>(cudaEventDestroy(event));
    for (const cudaEvent_t event : spare_) static_cast<void>(cudaEventDestroy(event));
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  // Tickets count from 1; 0 is an event that never was.
  std::uint64_t record(cudaStream_t stream) {
    while (!waiting_.empty() && is_past(waiting_.front())) {
      spare_.push_back(waiting_.front());
      waiting_.pop_front();
    }
    if (spare_.empty())
      CUDA_CHECK(cudaEventCreateWithFlags(&spare_.emplace_back(), cudaEventDisableTiming));
    CUDA_CHECK(cudaEventRecord(spare_.back(), stream));
    waiting_.push_back(spare_.back());
    spare_.pop_back();
    return ++last_ticket_;
  }

  // Null for an event that is past: there is nothing to wait for.
  cudaEvent_t find(std::uint64_t ticket) const {
    CHECK(ticket <= last_ticket_, "event {} of a stream that has recorded {}", ticket,
          last_ticket_);
    const std::uint64_t age = last_ticket_ - ticket;  // 0: the newest
    return age < waiting_.size() ? waiting_[waiting_.size() - 1 - age] : nullptr;
  }

 private:
  static bool is_past(cudaEvent_t event) {
    const cudaError_t status = cudaEventQuery(event);
    if (status == cudaErrorNotReady) return false;
    CUDA_CHECK(status);
    return true;
  }

  std::deque<cudaEvent_t> waiting_;
  std::vector<cudaEvent_t> spare_;
  std::uint64_t last_ticket_ = 0;
};

class CudaDevice final : public Device {
 public:
  CudaDevice(MemoryLedger& memory, WorkLedger& work, const CudaOptions& options)
      : Device(memory, work), tf32_(options.tf32) {}
  ~CudaDevice() override {
    static_cast<void>(cudaDeviceSynchronize());
    free_blocks_.clear([](void* block) { static_cast<void>(cudaFree(block)); });
  }

  std::string_view kind() const override { return "cuda"; }

  void upload(void* to, const void* from, std::int64_t bytes, Stream stream) override {
    staging_.upload(to, from, static_cast<std::size_t>(bytes), of(stream).get());
  }
  void download(void* to, const void* from, std::int64_t bytes, Stream stream) override {
    CUDA_CHECK(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost,
                               of(stream).get()));
  }

  Event record(Stream stream) override {
    return {stream, events_[index_of(stream)].record(of(stream).get())};
  }
  void wait(Stream stream, Event event) override {
    if (const cudaEvent_t found = events_[index_of(event.stream)].find(event.ticket))
      CUDA_CHECK(cudaStreamWaitEvent(of(stream).get(), found));
  }
  void synchronize(Stream stream) override { CUDA_CHECK(cudaStreamSynchronize(of(stream).get())); }

  cudaStream_t stream(Stream stream) { return of(stream).get(); }

  void begin_range(std::string_view name) override { nvtxRangePushA(std::string(name).c_str()); }
  void end_range() override { nvtxRangePop(); }

 private:
  static std::size_t index_of(Stream stream) { return static_cast<std::size_t>(stream); }
  CudaStream& of(Stream stream) { return streams_[index_of(stream)]; }

  void run(const Operation& operation, Stream stream) override {
    run_on_cuda(operation, of(stream), tf32_);
  }

  void* acquire(std::int64_t bytes) override {
    if (void* block = free_blocks_.take(bytes)) return block;
    void* block = allocate_block(bytes);
    if (block == nullptr) {
      give_back_free_blocks();
      block = allocate_block(bytes);
    }
    return block;
  }
  // The next user of the block works after its last one: both in the order of the compute stream.
  void release(void* data, std::int64_t bytes) override { free_blocks_.put(data, bytes); }

  static void* allocate_block(std::int64_t bytes) {
    void* block = nullptr;
    const cudaError_t status =
        cudaMalloc(&block, static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)));
    if (status == cudaErrorMemoryAllocation)
      static_cast<void>(cudaGetLastError());  // told by the caller
    else
      CUDA_CHECK(status);
    return block;
  }

  void give_back_free_blocks() {
    CUDA_CHECK(cudaDeviceSynchronize());  // for work that still uses them
    free_blocks_.clear([](void* block) { CUDA_CHECK(cudaFree(block)); });
  }

  bool tf32_;
  std::array<CudaStream, kStreams> streams_;
  std::array<Events, kStreams> events_;
  Staging staging_;
  FreeBlocks free_blocks_;
};

class PinnedHostDevice final : public CpuDevice {
 public:
  using CpuDevice::CpuDevice;
  ~PinnedHostDevice() override {
    free_blocks_.clear([](void* block) { static_cast<void>(cudaFreeHost(block)); });
  }

 private:
  void* acquire(std::int64_t bytes) override {
    void* block = free_blocks_.take(bytes);
    if (block == nullptr &&
        cudaHostAlloc(&block, static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)),
                      cudaHostAllocDefault) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());  // told by the caller
      return nullptr;
    }
    return block;
  }
  void release(void* data, std::int64_t bytes) override { free_blocks_.put(data, bytes); }

  FreeBlocks free_blocks_;
};

// The GPUs that can be used, or why there are none.
struct Found {
  int count = 0;
  std::string why;
};

Found find_gpus() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count > 0) return {count, ""};
  static_cast<void>(cudaGetLastError());
  int driver = 0;
  static_cast<void>(cudaDriverGetVersion(&driver));
  const auto version = [](int number) {
    return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
  };
  if (error == cudaErrorInsufficientDriver && driver > 0)
    return {0, fmt::format("the NVIDIA driver serves CUDA {}, and this program needs {}",
                           version(driver), version(CUDART_VERSION))};
  if (error == cudaErrorInsufficientDriver) return {0, "there is no NVIDIA driver"};
  if (error == cudaErrorNoDevice || error == cudaSuccess) return {0, "the driver shows no GPU"};
  return {0, fmt::format("{} ({})", cudaGetErrorString(error), cudaGetErrorName(error))};
}

}  // namespace

std::string why_no_cuda() {
  return find_gpus().why;
}

std::unique_ptr<Device> make_cuda_device(MemoryLedger& memory, WorkLedger& work,
                                         const CudaOptions& options) {
  const Found found = find_gpus();
  if (found.count == 0)
    fail(ExitCode::unavailable, "--backend cuda: {}; --backend cpu runs anywhere", found.why);
  if (options.index >= found.count)
    fail(ExitCode::unavailable, "--backend cuda: GPU {} is asked for, and there are {}",
         options.index, found.count);
  CUDA_CHECK(cudaSetDevice(options.index));
  return std::make_unique<CudaDevice>(memory, work, options);
}

std::unique_ptr<Device> make_pinned_host_device(MemoryLedger& memory, WorkLedger& work,
                                                int threads) {
  return std::make_unique<PinnedHostDevice>(memory, work, threads);
}

int gpu_count() {
  return find_gpus().count;
}

void* cuda_stream(Device& device, Stream stream) {
  CHECK(device.kind() == "cuda", "a {} device has no CUDA stream", device.kind());
  return static_cast<CudaDevice&>(device).stream(stream);
}

std::int64_t free_device_bytes() {
  std::size_t free_bytes = 0, all_bytes = 0;
  CUDA_CHECK(cudaMemGetInfo(&free_bytes, &all_bytes));
  return static_cast<std::int64_t>(free_bytes);
}

}  // namespace shardlings
