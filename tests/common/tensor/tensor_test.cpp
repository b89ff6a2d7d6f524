// Tensors as handles and views, on every device.
#include "tests/common/tensor/op_bench.h"
#include "tests/support/catch.h"

using namespace shardlings;
using Catch::Matchers::Contains;
using reference::Values;

namespace {

Values count_up(std::int64_t count) {
  Values values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<double>(i));
  return values;
}

// A CPU and its ledgers.
struct Cpu1 {
  MemoryLedger memory{"device"};
  WorkLedger work;
  CpuDevice device{memory, work, 1};
};

}  // namespace

TEST_CASE("a shape knows its sizes, their product and how to say so") {
  const Shape shape{8, 128, 64};
  CHECK(shape.rank() == 3);
  CHECK(shape.elements() == 8 * 128 * 64);
  CHECK(shape.last() == 64);
  CHECK(shape.with_last(3) == Shape{8, 128, 3});
  CHECK(shape.text() == "8 x 128 x 64");
  CHECK(Shape{0, 5}.elements() == 0);
  CHECK(Shape().elements() == 0);
  CHECK_FALSE(Shape{2, 3} == Shape{3, 2});
  CHECK_FALSE(Shape{6} == Shape{6, 1});
  CHECK_THROWS_WITH((Shape{1, 2, 3, 4, 5}), Contains("1 to 4 sizes, got 5"));
  CHECK_THROWS_WITH((Shape{2, -1}), Contains("2 x -1: negative size"));
}

TEST_CASE("values go to the device and come back, in every dtype") {
  on_every_device(
      [](OpBench& bench) {
        const Values x = bench.random("x", 33);
        const Tensor put = bench.put({3, 11}, x);
        CHECK(put.to_doubles() == x);
        CHECK(put.columns(10, 11).to_doubles() == Values{x[10], x[21], x[32]});
        const reference::Indices indices{3, -1, 2147483647};
        CHECK(bench.put({3}, indices).to_host<std::int32_t>() == indices);
        CHECK(bench.put({1, 1}, Values{2.5}).to_double() == 2.5);
        CHECK(bench.blank({0, 3}).to_doubles().empty());
      },
      {DType::f64, DType::f32, DType::bf16});
}

TEST_CASE("an element takes 8, 4 or 2 bytes, and the ledger counts them") {
  Cpu1 owner;
  for (const auto& [dtype, bytes] :
       {std::pair{DType::f64, 8}, {DType::f32, 4}, {DType::i32, 4}, {DType::bf16, 2}}) {
    const Tensor x(owner.device, dtype, {3, 11}, "x");
    CHECK(x.bytes() == 33 * bytes);
    CHECK(owner.memory.now().total() == 33 * bytes);
  }
}

TEST_CASE("view, rows and columns show the same elements") {
  on_every_device([](OpBench& bench) {
    const Tensor x = bench.put({6, 4}, count_up(24));
    const Tensor rows = x.rows(1, 3), columns = x.columns(1, 3), both = x.rows(4, 6).columns(3, 4),
                 seen = x.view({2, 3, 4});
    CHECK(rows.to_doubles() == Values{4, 5, 6, 7, 8, 9, 10, 11});
    CHECK(rows.is_contiguous());
    CHECK(columns.to_doubles() == Values{1, 2, 5, 6, 9, 10, 13, 14, 17, 18, 21, 22});
    CHECK_FALSE(columns.is_contiguous());
    CHECK(columns.stride() == 4);
    CHECK(both.to_doubles() == Values{19, 23});
    CHECK(both.shape() == Shape{2, 1});
    CHECK(columns.rows(1, 2).to_doubles() == Values{5, 6});
    CHECK(columns.columns(1, 2).to_doubles() == Values{2, 6, 10, 14, 18, 22});
    CHECK(seen.shape() == Shape{2, 3, 4});
    CHECK(seen.columns(3, 4).to_doubles() == Values{3, 7, 11, 15, 19, 23});
    CHECK(seen.columns(0, 2).shape() == Shape{2, 3, 2});
    CHECK(x.rows(2, 2).to_doubles().empty());
    CHECK(x.columns(4, 4).to_doubles().empty());
    // Written through a view, read through the whole.
    fill(rows, -1);
    CHECK(x.rows(0, 3).to_doubles() == Values{0, 1, 2, 3, -1, -1, -1, -1, -1, -1, -1, -1});
  });
}

TEST_CASE("a piece of one row is contiguous: it can be viewed, uploaded and operated on") {
  on_every_device([](OpBench& bench) {
    const Tensor x = bench.put({8}, count_up(8)), piece = x.columns(2, 6);
    CHECK(piece.is_contiguous());
    CHECK(piece.view({2, 2}).columns(1, 2).to_doubles() == Values{3, 5});
    fill(piece, 9);
    CHECK(x.to_doubles() == Values{0, 1, 9, 9, 9, 9, 6, 7});
    piece.from_doubles(Values{1, 1, 2, 2});
    CHECK(x.to_doubles() == Values{0, 1, 1, 1, 2, 2, 6, 7});
  });
}

TEST_CASE("matrix takes all dimensions but the last as rows") {
  Cpu1 owner;
  const Tensor x(owner.device, DType::f64, {2, 3, 5}, "x");
  const MatrixRef all = x.matrix(), some = x.columns(2, 4).matrix();
  CHECK(all.rows == 6);
  CHECK(all.columns == 5);
  CHECK(all.stride == 5);
  CHECK(some.rows == 6);
  CHECK(some.columns == 2);
  CHECK(some.stride == 5);
  CHECK(static_cast<double*>(some.data) == static_cast<double*>(all.data) + 2);
  CHECK(x.columns(1, 1).matrix().rows == 0);
}

TEST_CASE("the last handle ends the storage, and the ledger sees it") {
  Cpu1 owner;
  MemoryLedger& memory = owner.memory;
  {
    Tensor x(owner.device, DType::f32, {10, 10}, "x", Category::parameters);
    CHECK(memory.now()[Category::parameters] == 400);
    Tensor view = x.rows(3, 4), copy = x;
    CHECK(memory.now().total() == 400);
    x = Tensor();
    copy = Tensor();
    CHECK(x.is_empty());
    CHECK(memory.now().total() == 400);  // a view keeps the whole storage
    view = Tensor(owner.device, DType::f64, {2}, "y");
    CHECK(memory.now()[Category::parameters] == 0);
    CHECK(memory.now()[Category::workspace] == 16);
  }
  CHECK(memory.now().total() == 0);
  CHECK(memory.peak_bytes() == 416);
}

TEST_CASE("a storage held for backward counts as activations, once, whole, until the last drop") {
  Cpu1 owner;
  MemoryLedger& memory = owner.memory;
  const Tensor x(owner.device, DType::f32, {10, 10}, "x");
  const Tensor view = x.rows(0, 1);
  x.storage()->hold_for_backward();
  view.storage()->hold_for_backward();  // another stack, by a view of it
  CHECK(memory.now()[Category::activations] == 400);
  CHECK(memory.now()[Category::workspace] == 0);
  x.storage()->drop();
  CHECK(memory.now()[Category::activations] == 400);
  x.storage()->drop();
  CHECK(memory.now()[Category::activations] == 0);
  CHECK(memory.now()[Category::workspace] == 400);
  CHECK_THROWS_WITH(x.storage()->drop(), Contains("dropped more often than held"));
}

TEST_CASE("communication returns to communication, and parameters never change category") {
  Cpu1 owner;
  MemoryLedger& memory = owner.memory;
  const Tensor message(owner.device, DType::f32, {1}, "message", Category::communication),
      weight(owner.device, DType::f32, {2}, "weight", Category::parameters);
  for (const Tensor& x : {message, weight}) x.storage()->hold_for_backward();
  CHECK(memory.now()[Category::activations] == 4);
  CHECK(memory.now()[Category::parameters] == 8);
  for (const Tensor& x : {message, weight}) x.storage()->drop();
  CHECK(memory.now()[Category::communication] == 4);
  CHECK(memory.now()[Category::parameters] == 8);
}

TEST_CASE("above the cap there is a clear error, and nothing has changed") {
  for (const TestDevice& kind : test_devices()) {
    MemoryLedger memory("device", 1000);
    WorkLedger work;
    const auto device = kind.make(memory, work);
    const Tensor x(*device, DType::f32, {200}, "x");
    CHECK_THROWS_AS(Tensor(*device, DType::f32, {51}, "y"), OutOfMemory);
    CHECK(memory.now().total() == 800);
    const Tensor fits(*device, DType::f32, {50}, "y");
    CHECK(memory.now().total() == 1000);
  }
}

TEST_CASE("wrong uses of tensors are refused by name") {
  Cpu1 owner;
  const Tensor x(owner.device, DType::f32, {6, 4}, "x"),
      cube(owner.device, DType::f32, {2, 3, 4}, "cube"), i(owner.device, DType::i32, {2}, "i");
  CHECK_THROWS_WITH(x.view({5, 5}), Contains("6 x 4 cannot be viewed as 5 x 5"));
  CHECK_THROWS_WITH(x.columns(0, 2).view({12}), Contains("6 x 2 cannot be viewed as 12"));
  CHECK_THROWS_WITH(cube.rows(0, 1), Contains("rows are taken from matrices, not from 2 x 3 x 4"));
  CHECK_THROWS_WITH(x.rows(5, 7), Contains("rows 5 to 7 of 6 x 4"));
  CHECK_THROWS_WITH(x.rows(-1, 2), Contains("rows -1 to 2 of 6 x 4"));
  CHECK_THROWS_WITH(x.columns(3, 2), Contains("columns 3 to 2 of 6 x 4"));
  CHECK_THROWS_WITH(x.columns(0, 5), Contains("columns 0 to 5 of 6 x 4"));
  CHECK_THROWS_WITH(x.to_host<double>(), Contains("a f32 tensor is read as f64"));
  CHECK_THROWS_WITH(x.from_host<double>(Values(24)), Contains("a f32 tensor is written as f64"));
  CHECK_THROWS_WITH(x.from_doubles(Values(23)), Contains("23 values for a tensor of 6 x 4"));
  CHECK_THROWS_WITH(x.columns(0, 2).from_doubles(Values(12)), Contains("a view of 6 x 2"));
  CHECK_THROWS_WITH(x.to_double(), Contains("one element expected, got 6 x 4"));
  CHECK_THROWS_WITH(i.to_doubles(), Contains("f32 or f64, got i32"));
  CHECK_THROWS_WITH(Tensor().data(), Contains("an empty tensor has no data"));
  CHECK_THROWS_WITH(CpuDevice(owner.memory, owner.work, 0), Contains("at least one thread, got 0"));
}
