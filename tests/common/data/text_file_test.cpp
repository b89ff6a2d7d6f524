#include "data/text_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "base/check.h"
#include "tests/common/data/scratch.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

// `count` bytes; every two neighbours occur once, so that a sample tells where it is from.
std::string distinct(std::size_t count) {
  std::string text;
  for (int step = 1; text.size() < count; step += 2)
    for (int byte = 0, i = 0; i < 256 && text.size() < count; ++i, byte += step)
      text += static_cast<char>(byte);
  return text;
}

std::string sample(const TextFile& file, Split split, std::uint64_t index, std::size_t T) {
  std::vector<std::uint8_t> bytes(T + 1);
  file.sample(split, index, bytes, {});
  return {bytes.begin(), bytes.end()};
}

void refused(const std::filesystem::path& path, std::int64_t T, ExitCode code,
             const std::string& message) {
  try {
    TextFile(path, T, 1);
    FAIL("must throw");
  } catch (const Error& error) {
    CHECK(error.code() == code);
    CHECK(error.what() == message);
  }
}

}  // namespace

TEST_CASE("samples come from everywhere in their split, and from nowhere else") {
  const Scratch scratch;
  const std::string text = distinct(1000);
  const TextFile file(scratch.write("text", text), 37, 1);
  for (const std::size_t T : {1, 2, 37}) {
    for (const auto& [split, begin, end] :
         {std::tuple{Split::train, 0, 900}, std::tuple{Split::held_out, 900, 1000}}) {
      std::size_t first = text.size(), last = 0;
      for (std::uint64_t index = 0; index < 20000; ++index) {
        const std::size_t start = text.find(sample(file, split, index, T));
        REQUIRE(start != std::string::npos);
        first = std::min(first, start);
        last = std::max(last, start + T + 1);
      }
      CHECK(first == std::size_t(begin));
      CHECK(last == std::size_t(end));
    }
  }
}

TEST_CASE("a sample of a file is a pure function of seed, split and index") {
  const Scratch scratch;
  const auto path = scratch.write("text", distinct(1000));
  const TextFile file(path, 37, 1);
  const std::string five = sample(file, Split::train, 5, 37);
  sample(file, Split::held_out, 5, 37);
  CHECK(sample(file, Split::train, 5, 37) == five);
  CHECK(sample(TextFile(path, 10, 1), Split::train, 5, 37) == five);
  CHECK(sample(TextFile(path, 37, 2), Split::train, 5, 37) != five);
}

TEST_CASE("binary files are text like any other") {
  const Scratch scratch;
  std::string zeros(4 << 20, '\0');
  zeros[3 << 20] = '\xff';
  const TextFile file(scratch.write("zeros", zeros), 128, 1);
  CHECK(std::equal(file.bytes().begin(), file.bytes().end(), zeros.begin(), zeros.end(),
                   [](std::uint8_t a, char b) { return a == static_cast<std::uint8_t>(b); }));
}

TEST_CASE("files that cannot be read") {
  const Scratch scratch;
  const std::string folder = scratch.folder().string();
  refused(folder + "/none", 8, ExitCode::no_input,
          "cannot read " + folder + "/none: No such file or directory");
  refused(folder, 8, ExitCode::no_input, "cannot read " + folder + ": Is a directory");
  const auto locked = scratch.write("locked", "text");
  ::chmod(locked.c_str(), 0);
  const bool is_root = ::geteuid() == 0;
  if (is_root) REQUIRE(::seteuid(65534) == 0);  // root may read everything
  refused(locked, 8, ExitCode::no_input, "cannot read " + locked.string() + ": Permission denied");
  if (is_root) REQUIRE(::seteuid(0) == 0);
}

TEST_CASE("files that are too short") {
  const Scratch scratch;
  const auto empty = scratch.write("empty", "");
  refused(empty, 8, ExitCode::bad_data, empty.string() + " is empty; give it text to train on");
  const auto small = scratch.write("small", std::string(1289, 'a'));
  refused(small, 128, ExitCode::bad_data,
          small.string() +
              " has 1,289 bytes; T = 128 takes samples of 129, and the last tenth, which is held "
              "out, has 128: use a file of at least 1,290 bytes or a shorter context T");
  CHECK_NOTHROW(TextFile(scratch.write("enough", std::string(1290, 'a')), 128, 1));
  CHECK_NOTHROW(TextFile(scratch.write("least", std::string(20, 'a')), 1, 1));
}
