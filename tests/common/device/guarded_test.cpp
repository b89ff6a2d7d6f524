// The guarded device: right programs get the CPU's results, and each way of being wrong shows.
#include "device/guarded/guarded_device.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/random.h"
#include "device/cpu/cpu_device.h"
#include "tensor/ops.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

using Values = std::vector<double>;

struct Guarded {
  explicit Guarded(std::int64_t arena_bytes = std::int64_t{1} << 26)
      : guarded(memory, work, 2, arena_bytes) {}

  Tensor tensor(std::int64_t count) { return {device, DType::f64, {count}, "test"}; }
  Tensor filled(std::int64_t count, double value) {
    const Tensor x = tensor(count);
    fill(x, value);
    return x;
  }
  // What a download on `stream` brings, with everything that stream needs waited for.
  Values read(const Tensor& x, Stream stream) {
    Values values(static_cast<std::size_t>(x.elements()), 0.5);
    device.download(values.data(), x.data(), x.bytes(), stream);
    device.synchronize(stream);
    return values;
  }

  MemoryLedger memory{"device"};
  WorkLedger work;
  GuardedDevice guarded;
  Device& device = guarded;
};

bool all_nan(const Values& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isnan(v); });
}

// True when `access`, in a process of its own, dies of a memory fault.
template <class Access>
bool faults(const Access& access) {
  const pid_t child = fork();
  if (child == 0) {
    // Neither a sanitizer's handler, nor Catch2's, nor a core file.
    std::signal(SIGSEGV, SIG_DFL);
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    access();
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

// A small training step's worth of operations.
Values results_on(Device& device) {
  const RandomStream stream(1, "guarded");
  const std::int64_t B = 2, T = 70, D = 12, H = 3;
  const Shape shape{B, T, D};
  Values values(static_cast<std::size_t>(shape.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = stream.normal(i);
  const Tensor x(device, DType::f32, shape, "x"), w(device, DType::f32, {D, D}, "w"),
      q(device, DType::f32, shape, "q"), o(device, DType::f32, shape, "o"),
      log_sum_exp(device, DType::f32, {B, H, T}, "log_sum_exp"),
      d_w(device, DType::f32, {D, D}, "d_w");
  x.from_doubles(values);
  w.from_doubles(Values(values.begin(), values.begin() + D * D));
  linear(q, x, w);
  attention(o, log_sum_exp, q, x, q, H);
  gelu(q, o);
  {
    const Tensor early = clone(q, "early");
    add(q, q, early);
  }  // freed while its use still waits in a queue
  linear_weight_gradient(d_w, x, q, false);
  Values all = d_w.to_doubles();
  for (const Tensor& result : {q, o, log_sum_exp})
    for (const double v : result.to_doubles()) all.push_back(v);
  all.push_back(sum_of_squares(q));
  return all;
}

}  // namespace

TEST_CASE("guarded: results equal the CPU's to the last bit") {
  Guarded guarded;
  MemoryLedger memory("device");
  WorkLedger work;
  CpuDevice cpu(memory, work, 1);
  CHECK(results_on(guarded.device) == results_on(cpu));
  CHECK(guarded.work.total() == work.total());
  CHECK(guarded.memory.peak_bytes() == memory.peak_bytes());
  CHECK(guarded.memory.now().total() == 0);
}

TEST_CASE("guarded: host code that follows a tensor's address dies") {
  Guarded guarded;
  const Tensor x = guarded.filled(100000, 1);
  guarded.device.synchronize();
  auto* data = static_cast<double*>(x.data());
  CHECK(faults([data] { *const_cast<volatile double*>(data) = 1; }));
  CHECK(faults([data] { (void)*const_cast<volatile double*>(data); }));
  CHECK(faults([data] { (void)*const_cast<volatile double*>(data + 99999); }));
  CHECK_FALSE(faults([] {}));
  CHECK(x.to_doubles().back() == 1);
}

TEST_CASE("guarded: nothing runs before somebody synchronizes") {
  Guarded guarded;
  const Tensor x = guarded.filled(3, 7);
  Values values{1, 2, 3};
  guarded.device.download(values.data(), x.data(), x.bytes());
  guarded.device.synchronize(Stream::copy);  // another stream: no help
  CHECK(values == Values{1, 2, 3});
  guarded.device.synchronize();
  CHECK(values == Values{7, 7, 7});
}

TEST_CASE("guarded: an upload's source may be changed at once") {
  Guarded guarded;
  const Tensor x = guarded.tensor(3);
  Values values{1, 2, 3};
  x.from_doubles(values);
  guarded.device.upload(x.data(), values.data(), 16);
  values = {0, 0, 0};
  CHECK(x.to_doubles() == Values{1, 2, 3});
}

TEST_CASE("guarded: fresh memory is NaN") {
  Guarded guarded;
  CHECK(all_nan(guarded.tensor(1000).to_doubles()));
  CHECK(all_nan(Tensor(guarded.device, DType::f32, {1000}, "x").to_doubles()));
  const Tensor x = guarded.tensor(5);
  CHECK(all_nan(guarded.read(x, Stream::copy)));
}

TEST_CASE("guarded: a stream that does not wait for another reads old values") {
  Guarded guarded;
  const Tensor x = guarded.filled(3, 1);
  CHECK(all_nan(guarded.read(x, Stream::communication)));
  guarded.device.synchronize();
  fill(x, 2);
  CHECK(guarded.read(x, Stream::communication) == Values{1, 1, 1});
}

TEST_CASE("guarded: a stream that waits for an event sees what was done up to it, no further") {
  Guarded guarded;
  Device& device = guarded.device;
  const Tensor x = guarded.filled(2, 1);
  const Event filled = device.record(Stream::compute);
  fill(x, 2);
  device.wait(Stream::copy, filled);
  CHECK(guarded.read(x, Stream::copy) == Values{1, 1});  // as late as possible: not yet 2
  CHECK(x.to_doubles() == Values{2, 2});
  device.wait(Stream::copy, filled);  // long past
  device.wait(Stream::copy, Event{});
  CHECK(guarded.read(x, Stream::copy) == Values{2, 2});
}

TEST_CASE("guarded: to wait for an event does not run anything yet") {
  Guarded guarded;
  Device& device = guarded.device;
  const Tensor x = guarded.filled(2, 7);
  Values values{1, 2};
  device.download(values.data(), x.data(), x.bytes());
  device.wait(Stream::copy, device.record(Stream::compute));
  CHECK(values == Values{1, 2});
  device.synchronize(Stream::copy);
  CHECK(values == Values{7, 7});
}

TEST_CASE("guarded: events chain over three streams, and back") {
  Guarded guarded;
  Device& device = guarded.device;
  const Tensor x = guarded.filled(1, 1);
  const auto twice = [&](Stream stream) {
    device.launch(Scale{.dtype = DType::f64, .y = x.data(), .factor = 2, .count = 1}, stream);
  };
  const auto then = [&](Stream before, Stream after) { device.wait(after, device.record(before)); };
  then(Stream::compute, Stream::copy);
  twice(Stream::copy);
  then(Stream::copy, Stream::communication);
  twice(Stream::communication);
  then(Stream::communication, Stream::compute);
  add_scaled(x, x, 2);
  CHECK(x.to_doubles() == Values{12});
}

TEST_CASE("guarded: freed memory turns into NaN for a stream that still reads it") {
  Guarded guarded;
  Device& device = guarded.device;
  Values values{0, 0};
  {
    const Tensor x = guarded.filled(2, 1);
    device.wait(Stream::communication, device.record(Stream::compute));
    device.download(values.data(), x.data(), x.bytes(), Stream::communication);
  }  // too early: compute has not waited for communication
  device.synchronize();
  device.synchronize(Stream::communication);
  CHECK(all_nan(values));
  {
    const Tensor x = guarded.filled(2, 1);
    device.wait(Stream::communication, device.record(Stream::compute));
    device.download(values.data(), x.data(), x.bytes(), Stream::communication);
    device.wait(Stream::compute, device.record(Stream::communication));
  }
  device.synchronize();
  device.synchronize(Stream::communication);
  CHECK(values == Values{1, 1});
}

TEST_CASE("guarded: what another stream writes into fresh memory unasked is lost") {
  Guarded guarded;
  Device& device = guarded.device;
  const Values ones{1, 1};
  for (const bool waits : {false, true}) {
    const Tensor x = guarded.tensor(2);
    if (waits) device.wait(Stream::copy, device.record(Stream::compute));
    device.upload(x.data(), ones.data(), x.bytes(), Stream::copy);
    device.synchronize(Stream::copy);
    const Values got = x.to_doubles();
    if (waits)
      CHECK(got == ones);
    else
      CHECK(all_nan(got));
  }
}

TEST_CASE("guarded: a free waits for the work before it") {
  Guarded guarded;
  Values first(2), second(2);
  {
    const Tensor x = guarded.filled(2, 1);
    guarded.device.download(first.data(), x.data(), x.bytes());
  }
  const Tensor y = guarded.filled(2, 2);  // must not take x's place before x was read
  guarded.device.download(second.data(), y.data(), y.bytes());
  guarded.device.synchronize();
  CHECK(first == Values{1, 1});
  CHECK(second == Values{2, 2});
}

TEST_CASE("guarded: the arena is used again, and blocks grow together") {
  constexpr std::int64_t kArena = 1 << 16, kCount = kArena / 8;
  Guarded guarded(kArena);
  for (int round = 0; round < 3; ++round) {
    // All of it, though the last round's frees still wait in the queue.
    const Tensor all = guarded.filled(kCount, 1);
    CHECK_THROWS_WITH(guarded.tensor(1), Catch::Matchers::Contains("the machine has no 8 B left"));
    CHECK(all.to_doubles() == Values(kCount, 1.0));
  }
  for (const auto& order : {std::array{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {0, 2, 1}}) {
    std::array<Tensor, 3> thirds;
    for (Tensor& third : thirds) third = guarded.tensor(kCount / 3 / 8 * 8);
    for (const int i : order) thirds[static_cast<std::size_t>(i)] = Tensor();
    CHECK_NOTHROW(guarded.tensor(kCount));
  }
}

TEST_CASE("guarded: every block is as aligned as the CPU's, and blocks do not overlap") {
  Guarded guarded;
  std::vector<std::shared_ptr<Storage>> blocks;
  for (const std::int64_t bytes : {0, 1, 64, 65, 1000, 3, 0})
    blocks.push_back(guarded.device.allocate(bytes, Category::workspace, "test"));
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto begin = reinterpret_cast<std::uintptr_t>(blocks[i]->data());
    CHECK(begin % 64 == 0);
    for (std::size_t j = 0; j < i; ++j) {
      const auto other = reinterpret_cast<std::uintptr_t>(blocks[j]->data());
      CHECK(other + static_cast<std::uintptr_t>(blocks[j]->bytes()) <= begin);
      CHECK(other < begin);
    }
  }
}

TEST_CASE("guarded: an error of a queued operation reaches whoever synchronizes, once") {
  Guarded guarded;
  const Tensor x(guarded.device, DType::i32, {2}, "x");
  guarded.device.launch(Scale{.dtype = DType::i32, .y = x.data(), .factor = 2, .count = 2});
  const Event after = guarded.device.record(Stream::compute);
  CHECK_THROWS_WITH(guarded.device.synchronize(), Catch::Matchers::Contains("f32 or f64, got i32"));
  CHECK_NOTHROW(guarded.device.synchronize());
  guarded.device.wait(Stream::copy, after);
  CHECK_NOTHROW(guarded.device.synchronize(Stream::copy));
}

TEST_CASE("guarded: a device that ends drops the work that nobody waited for") {
  Values values{1, 2};
  {
    Guarded guarded;
    const Tensor x = guarded.filled(2, 7);
    guarded.device.download(values.data(), x.data(), x.bytes());
  }
  CHECK(values == Values{1, 2});
}

TEST_CASE("guarded: its name, and settings that cannot be") {
  Guarded guarded;
  CHECK(guarded.device.kind() == "guarded");
  MemoryLedger memory("device");
  WorkLedger work;
  CHECK_THROWS_WITH(GuardedDevice(memory, work, 0),
                    Catch::Matchers::Contains("at least one thread"));
  try {
    GuardedDevice(memory, work, 1, std::int64_t{1} << 60);
    FAIL("an exbibyte was reserved");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::out_of_memory);
  }
}
