#include "storage/safetensors.h"

#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "tests/common/base/file_size_limit.h"
#include "tests/common/data/scratch.h"
#include "tests/common/storage/failure.h"
#include "tests/common/storage/hand_made.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

namespace fs = std::filesystem;

using Bytes = std::vector<std::byte>;

const std::vector<StoredType> kAllTypes{
    StoredType::boolean, StoredType::u8,   StoredType::i8,  StoredType::u16, StoredType::i16,
    StoredType::f16,     StoredType::bf16, StoredType::u32, StoredType::i32, StoredType::f32,
    StoredType::u64,     StoredType::i64,  StoredType::f64};

const std::vector<std::vector<std::int64_t>> kOddShapes{
    {}, {0}, {1}, {3}, {2, 3, 5}, {3, 0, 2}, {7, 1, 1, 2}, {1, 1, 1, 1, 1, 3}};

std::int64_t elements(const std::vector<std::int64_t>& shape) {
  std::int64_t product = 1;
  for (const std::int64_t size : shape) product *= size;
  return product;
}

Bytes random_bytes(std::int64_t count, std::uint64_t seed) {
  const RandomStream random(seed, "bytes");
  Bytes bytes(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(random.below(256, i));
  return bytes;
}

Bytes as_bytes(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Bytes read(const SafetensorsFile& file, const TensorEntry& entry) {
  Bytes bytes(static_cast<std::size_t>(entry.bytes));
  file.read(entry, bytes);
  return bytes;
}

Bytes read_rows(const SafetensorsFile& file, const TensorEntry& entry, std::int64_t begin,
                std::int64_t end) {
  Bytes bytes(static_cast<std::size_t>((end - begin) * entry.bytes / entry.shape.front()));
  file.read_rows(entry, begin, end, bytes);
  return bytes;
}

void write(const fs::path& path, const std::string& content) {
  SafetensorsWriter writer(path, {{"x", StoredType::u8, {std::ssize(content)}}}, {});
  writer.append(as_bytes(content));
  writer.commit();
}

std::string content(const fs::path& path) {
  const SafetensorsFile file(path);
  const Bytes bytes = read(file, file.entries().front());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

TEST_CASE("every type in odd shapes comes back byte for byte") {
  const Scratch scratch;
  const fs::path path = scratch.folder() / "all.safetensors";
  std::vector<TensorEntry> entries;
  std::vector<Bytes> data;
  for (const StoredType type : kAllTypes)
    for (const auto& shape : kOddShapes) {
      entries.push_back({fmt::format("tensor {}", entries.size()), type, shape});
      data.push_back(random_bytes(elements(shape) * bytes_per_element(type), entries.size()));
    }
  const Metadata metadata{{"format", "pt"}, {"", "\"quotes\" and \\ \n line breaks"}};
  SafetensorsWriter writer(path, entries, metadata);
  for (const Bytes& bytes : data) writer.append(bytes);
  writer.commit();

  const SafetensorsFile file(path);
  CHECK(file.metadata() == metadata);
  REQUIRE(file.entries().size() == entries.size());
  std::size_t same = 0;
  for (const TensorEntry& entry : file.entries())
    for (std::size_t i = 0; i < entries.size(); ++i)
      same += entry.name == entries[i].name && entry.type == entries[i].type &&
              entry.shape == entries[i].shape && read(file, entry) == data[i];
  CHECK(same == entries.size());
}

TEST_CASE("the bytes of a file are those of the format") {
  const Scratch scratch;
  const fs::path path = scratch.folder() / "small.safetensors";
  SafetensorsWriter writer(
      path, {{"b", StoredType::i32, {1, 2}}, {"a\n", StoredType::boolean, {3}}}, {{"k", "v"}});
  writer.append(as_bytes({1, 0, 0, 0, -1}));
  writer.append(as_bytes({-1, -1, -1, 1, 0, 1}));  // the pieces need not be tensors
  writer.commit();
  const std::string header =
      R"({"__metadata__":{"k":"v"},"b":{"dtype":"I32","shape":[1,2],"data_offsets":[0,8]},)"
      R"("a\n":{"dtype":"BOOL","shape":[3],"data_offsets":[8,11]}})";
  const std::string padding(7 - (header.size() + 7) % 8, ' ');
  CHECK(read_text(path, 1000) == file_of(header + padding, {1, 0, 0, 0, -1, -1, -1, -1, 1, 0, 1}));
}

TEST_CASE("a file put together by hand is read in the order of its data") {
  const Scratch scratch;
  const fs::path path = scratch.write(
      "hand", file_of("{ \"second\" : {\"shape\":[2,2], \"data_offsets\":[4,8], \"dtype\":\"I8\"},"
                      "\"\\u00e9\\u0000/../x\":{\"dtype\":\"U32\",\"shape\":[],"
                      "\"data_offsets\":[0,4]}, \"none\":{\"dtype\":\"F64\",\"shape\":[0,9],"
                      "\"data_offsets\":[4,4]} }  ",
                      "\x01\x02\x03\x04wxyz"));
  const SafetensorsFile file(path);
  REQUIRE(file.entries().size() == 3);
  const auto& [first, none, second] =
      std::tie(file.entries()[0], file.entries()[1], file.entries()[2]);
  CHECK(first.name == std::string("\xc3\xa9\0/../x", 8));  // a name is a name, never a path
  CHECK(first.type == StoredType::u32);
  CHECK(first.shape.empty());
  CHECK(none.bytes == 0);
  CHECK(second.shape_text() == "[2, 2]");
  CHECK(read(file, first) == as_bytes("\x01\x02\x03\x04"));
  CHECK(read(file, second) == as_bytes("wxyz"));
  CHECK(read_rows(file, second, 0, 1) == as_bytes("wx"));
  CHECK(read_rows(file, second, 1, 2) == as_bytes("yz"));
  CHECK(read_rows(file, second, 1, 1).empty());
}

TEST_CASE("a file without tensors is one") {
  const Scratch scratch;
  CHECK(SafetensorsFile(scratch.write("none", file_of("{}", ""))).entries().empty());
  SafetensorsWriter(scratch.folder() / "ours", {}, {}).commit();
  CHECK(read_text(scratch.folder() / "ours", 100) == file_of("{}      ", ""));
}

TEST_CASE("reads and writes that do not fit are contract violations") {
  const Scratch scratch;
  const fs::path path = scratch.folder() / "x";
  write(path, "0123");
  const SafetensorsFile file(path);
  const TensorEntry& entry = file.entries().front();
  Bytes bytes(5);
  CHECK_THROWS_WITH(file.read(entry, bytes), Catch::Contains("x: 4 bytes into 5"));
  CHECK_THROWS_WITH(file.read_rows(entry, 3, 5, bytes), Catch::Contains("rows 3 to 5 of [4]"));
  CHECK_THROWS_WITH(file.read_rows(entry, 0, 4, bytes),
                    Catch::Contains("4 rows of 1 bytes into 5"));

  const auto twice = [&] {
    SafetensorsWriter(path, {{"a", StoredType::u8, {1}}, {"a", StoredType::u8, {1}}}, {});
  };
  CHECK_THROWS_WITH(twice(), Catch::Contains("the name \"a\" is there twice"));
  SafetensorsWriter writer(path, {{"a", StoredType::f32, {2}}}, {});
  writer.append(std::span(bytes));
  CHECK_THROWS_WITH(writer.commit(), Catch::Contains("3 bytes of the tensors are missing"));
  CHECK_THROWS_WITH(writer.append(bytes), Catch::Contains("2 bytes more than the tensors have"));
  CHECK(content(path) == "0123");
}

TEST_CASE("a disk that fills up leaves the old file and nothing else") {
  const Scratch scratch;
  const fs::path path = scratch.folder() / "x";
  write(path, "old");
  std::string message;
  {
    const FileSizeLimit limit(1000);
    message = failure([&] { write(path, std::string(5000, 'n')); });
  }
  CHECK(message == "74: cannot write " + path.string() + ": File too large");
  CHECK(content(path) == "old");
  CHECK(std::distance(fs::directory_iterator(scratch.folder()), {}) == 1);
}

TEST_CASE("a directory that must not be written keeps its file") {
  const Scratch scratch;
  const fs::path path = scratch.folder() / "x";
  write(path, "old");
  ::chmod(scratch.folder().c_str(), 0555);
  const bool is_root = ::geteuid() == 0;
  if (is_root) REQUIRE(::seteuid(65534) == 0);  // root may write everywhere
  const std::string message = failure([&] { write(path, "new"); });
  if (is_root) REQUIRE(::seteuid(0) == 0);
  ::chmod(scratch.folder().c_str(), 0755);
  CHECK(message == "74: cannot write " + path.string() + ": Permission denied");
  CHECK(content(path) == "old");
}

TEST_CASE("what is no plain file cannot be read") {
  const Scratch scratch;
  const std::string folder = scratch.folder().string();
  const auto opening = [](const std::string& path) {
    return failure([&] { SafetensorsFile{path}; });
  };
  CHECK(opening(folder + "/none") ==
        "66: cannot read " + folder + "/none: No such file or directory");
  CHECK(opening(folder) == "66: cannot read " + folder + ": it is not a plain file");
  REQUIRE(::mkfifo((folder + "/pipe").c_str(), 0600) == 0);
  CHECK(opening(folder + "/pipe") == "66: cannot read " + folder + "/pipe: it is not a plain file");
}

TEST_CASE("a file that shrinks while it is read is found out") {
  const Scratch scratch;
  const fs::path path = scratch.folder() / "x";
  write(path, "0123456789");
  const SafetensorsFile file(path);
  fs::resize_file(path, fs::file_size(path) - 4);
  CHECK_THROWS_WITH(read(file, file.entries().front()), Catch::Contains("4 more expected"));
}
