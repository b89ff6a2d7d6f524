// Files that must be refused: in one line, before anything they ask for is allocated.

#include <fmt/ranges.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/common/data/scratch.h"
#include "tests/common/storage/hand_made.h"
#include "tests/common/storage/hostile.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

const std::string kGoodHeader =
    R"({"__metadata__":{"format":"pt","k":"v"},"wte.weight":{"dtype":"F32","shape":[2,3],)"
    R"("data_offsets":[0,24]},"mask":{"dtype":"BOOL","shape":[1,1,5],"data_offsets":[24,29]},)"
    R"("b":{"dtype":"F64","shape":[],"data_offsets":[29,37]}}   )";
const std::string kGoodData(37, 'd');

std::string verdict_on_bytes(const std::string& bytes) {
  static const MemoryFile file;
  file.set(bytes);
  return verdict_on(file.path());
}

// A tensor "x" with these fields, and as much data as said.
std::string with_tensor(const std::string& fields, std::size_t data_bytes) {
  return file_of(fmt::format(R"({{"x":{{{}}}}})", fields), std::string(data_bytes, 'd'));
}

std::string f32(const std::string& shape, const std::string& offsets) {
  return R"("dtype":"F32","shape":)" + shape + R"(,"data_offsets":)" + offsets;
}

std::string tensor(const std::string& name, int begin, int end) {
  return fmt::format(R"("{}":{{"dtype":"U8","shape":[{}],"data_offsets":[{},{}]}})", name,
                     end - begin, begin, end);
}

std::string header(const std::vector<std::string>& members) {
  return fmt::format("{{{}}}", fmt::join(members, ","));
}

struct Reject {
  std::string bytes;
  std::string says;
};

void check_all(const std::vector<Reject>& rejects) {
  for (const Reject& reject : rejects) {
    INFO(reject.says);
    CHECK_THAT(verdict_on_bytes(reject.bytes), Catch::Contains(reject.says));
  }
}

// One of the things that could be wrong, somewhere in a header that was right.
std::string mutated(std::string text, std::mt19937& random) {
  static const std::vector<std::string> tokens{"-1",
                                               "0",
                                               "4294967296",
                                               "9223372036854775807",
                                               "18446744073709551616",
                                               "1e999",
                                               "1.0",
                                               "[",
                                               "]",
                                               "{",
                                               "}",
                                               ",",
                                               ":",
                                               "\"",
                                               "\\u0000",
                                               "\\ud800",
                                               "null",
                                               "true",
                                               "\"x\":",
                                               "\"dtype\":\"F32\"",
                                               "\"shape\":[2,3]",
                                               "\"data_offsets\":[0,24]",
                                               "__metadata__",
                                               "BF16",
                                               "[[[[[[[[[[",
                                               std::string(1, '\0'),
                                               "\xff",
                                               "\xc3\xa9"};
  const auto below = [&](std::size_t n) { return std::size_t{random()} % n; };
  const std::size_t at = below(text.size()), other = below(text.size());
  switch (below(6)) {
    case 0:
      text[at] = static_cast<char>(random());
      break;
    case 1:
      text.erase(at, 1 + below(8));
      break;
    case 2:
      text.insert(at, tokens[below(tokens.size())]);
      break;
    case 3:
      text.insert(at, text.substr(other, below(40)));
      break;
    case 4:
      std::swap(text[at], text[other]);
      break;
    case 5:
      if (const std::size_t digit = text.find_first_of("0123456789", at); digit != text.npos)
        text[digit] = static_cast<char>('0' + below(10));
      break;
  }
  return text.empty() ? "{" : text;
}

}  // namespace

TEST_CASE("lengths that cannot be") {
  CHECK(verdict_on_bytes(file_of(kGoodHeader, kGoodData)) == "");
  check_all({
      {"", "0 bytes are no safetensors file"},
      {"1234567", "7 bytes are no safetensors file"},
      {with_length(0, ""), "header: it must begin with {"},
      {with_length(3, "{}"), "a header of at most 2 bytes expected, got 3"},
      {with_length(std::uint64_t{1} << 63, "{}"), "got 9223372036854775808"},
      {with_length(~std::uint64_t{0}, "{}"), "got 18446744073709551615"},
      {with_length(~std::uint64_t{0} - 7, "{}"), "got 18446744073709551608"},
      {file_of(kGoodHeader, kGoodData + "d"), "take 37 bytes, but the file holds 38"},
      {file_of(kGoodHeader, kGoodData.substr(1)), "\"b\": its data end at byte 37, but the file"},
  });
}

TEST_CASE("a header longer than the format allows") {
  const Scratch scratch;
  const auto path = scratch.write("long", with_length(100'000'001, "{}"));
  std::filesystem::resize_file(path, 200'000'000);  // a hole: it takes no room
  CHECK_THAT(verdict_on(path), Catch::Contains("at most 100,000,000 bytes expected"));
}

TEST_CASE("headers that are not what they should be") {
  const std::string deep(100'000, '[');
  std::string many = "{\"x\":{\"shape\":[0";
  for (int i = 0; i < 1'000'000; ++i) many += ",0";
  check_all({
      {file_of(" {}", ""), "must begin with {"},
      {file_of("\xef\xbb\xbf{}", ""), "must begin with {"},
      {file_of("[]", ""), "must begin with {"},
      {file_of("{", ""), "not JSON from byte"},
      {file_of("{}{}", ""), "not JSON from byte"},
      {file_of(std::string("{}\0", 3), ""), "not JSON from byte"},
      {file_of("{\"x\":1,}", ""), "not JSON from byte"},
      {file_of("{\"\xff\":{}}", ""), "not JSON from byte"},
      {file_of("{\"\\ud800\":{}}", ""), "not JSON from byte"},
      {file_of("{/**/}", ""), "not JSON from byte"},
      {file_of(header({"\"x\":" + deep}), ""), "nested more than 8 levels deep"},
      {file_of("{\"x\":{\"y\":[[[[[[[]]]]]]]}}", ""), "nested more than 8 levels deep"},
      {file_of(many + "]}}", ""), "more than 1000000 values"},
      {file_of("{\"x\":[]}", ""), "tensor \"x\": an object expected, got []"},
      {file_of("{\"x\\u0000\\n\":null}", ""), R"(tensor "x\u0000\n": an object expected)"},
      {file_of(header({fmt::format("\"{:n>5000}\":null", "")}), ""), "nnn...: an object expected"},
      {file_of("{\"__metadata__\":{\"a\":1}}", ""), "__metadata__: strings expected, got 1"},
      {file_of("{\"__metadata__\":null}", ""), "__metadata__: an object expected"},
      {file_of("{\"__metadata__\":{\"a\":{}}}", ""), "__metadata__: strings expected"},
      {file_of("{\"__metadata__\":{\"a\":\"\",\"a\":\"\"}}", ""), "the name \"a\" is there twice"},
      {file_of("{\"__metadata__\":{},\"__metadata__\":{}}", ""), "is there twice"},
      {file_of(header({tensor("x", 0, 1), tensor("x", 0, 1)}), "d"),
       "the name \"x\" is there twice"},
      {file_of(header({tensor("x", 0, 1), tensor("\\u0078", 1, 2)}), "dd"),
       "the name \"x\" is there twice"},
  });
}

TEST_CASE("tensors that are not what they should be") {
  check_all({
      {with_tensor("", 0), "dtype, shape and data_offsets expected, got {}"},
      {with_tensor(R"("dtype":"F32","shape":[1])", 4), "dtype, shape and data_offsets expected"},
      {with_tensor(f32("[1]", "[0,4]") + ",\"file\":\"../x\"", 4), "data_offsets expected, got"},
      {with_tensor(f32("[1]", "[0,4]") + ",\"dtype\":\"F64\"", 4), "\"dtype\" is there twice"},
      {with_tensor(R"("dtype":"F31","shape":[1],"data_offsets":[0,4])", 4),
       "expected, got \"F31\""},
      {with_tensor(R"("dtype":"f32","shape":[1],"data_offsets":[0,4])", 4),
       "expected, got \"f32\""},
      {with_tensor(R"("dtype":7,"shape":[1],"data_offsets":[0,4])", 4), "expected, got 7"},
      {with_tensor(f32("4", "[0,4]"), 4), "a list of sizes expected, got 4"},
      {with_tensor(f32("[-1]", "[0,4]"), 4), "a size of at least 0 expected, got -1"},
      {with_tensor(f32("[1.0]", "[0,4]"), 4),
       "a whole number of at most 63 bits expected, got 1.0"},
      {with_tensor(f32("[\"1\"]", "[0,4]"), 4), "expected, got \"1\""},
      {with_tensor(f32("[[1]]", "[0,4]"), 4), "expected, got [1]"},
      {with_tensor(f32("[9223372036854775808]", "[0,4]"), 4), "63 bits expected"},
      {with_tensor(f32("[1e999]", "[0,4]"), 4), "not JSON"},
      {with_tensor(f32("[NaN]", "[0,4]"), 4), "not JSON"},
      {with_tensor(f32("[9223372036854775807]", "[0,4]"), 4), "no file holds F32 of shape"},
      {with_tensor(f32("[4294967296,4294967296]", "[0,0]"), 0), "no file holds F32 of shape"},
      {with_tensor(f32("[2147483648,2147483648,1]", "[0,0]"), 0), "no file holds F32 of shape"},
      {with_tensor(f32("[1099511627776]", "[0,4398046511104]"), 4),
       "data end at byte 4398046511104"},
      {with_tensor(f32("[2]", "[0,4]"), 4), "takes 8 bytes, its data_offsets [0,4] hold 4"},
      {with_tensor(f32("[]", "[0,0]"), 0), "takes 4 bytes, its data_offsets [0,0] hold 0"},
      {with_tensor(f32("[0]", "[0,4]"), 4), "takes 0 bytes, its data_offsets [0,4] hold 4"},
      {with_tensor(f32("[1]", "[4,0]"), 4), "a begin and an end expected, got [4,0]"},
      {with_tensor(f32("[1]", "[0]"), 4), "a begin and an end expected"},
      {with_tensor(f32("[1]", "[0,4,8]"), 4), "a begin and an end expected"},
      {with_tensor(f32("[1]", "[-4,0]"), 4), "a size of at least 0 expected, got -4"},
      {with_tensor(f32("[1]", "[9223372036854775804,9223372036854775807]"), 4), "hold 3"},
      {with_tensor(f32("[1]", "[9223372036854775800,9223372036854775804]"), 4), "fills the gap"},
  });
}

TEST_CASE("data must be covered exactly") {
  const auto file = [](const std::vector<std::string>& members, std::size_t bytes) {
    return file_of(header(members), std::string(bytes, 'd'));
  };
  CHECK(verdict_on_bytes(file({tensor("b", 4, 8), tensor("a", 0, 4)}, 8)) == "");
  CHECK(verdict_on_bytes(file({tensor("e", 4, 4), tensor("b", 4, 8), tensor("a", 0, 4)}, 8)) == "");
  check_all({
      {file_of("{}", "d"), "the tensors take 0 bytes, but the file holds 1"},
      {file({tensor("a", 1, 4)}, 4),
       "\"a\": its data begin at byte 1, 0 expected: no tensor fills"},
      {file({tensor("a", 0, 4), tensor("b", 5, 8)}, 8), "begin at byte 5, 4 expected: no tensor"},
      {file({tensor("a", 0, 4), tensor("b", 3, 8)}, 8), "begin at byte 3, 4 expected: it overlaps"},
      {file({tensor("a", 0, 4), tensor("b", 0, 4)}, 4), "begin at byte 0, 4 expected: it overlaps"},
      {file({tensor("a", 0, 8), tensor("b", 2, 4)}, 8), "begin at byte 2, 8 expected: it overlaps"},
      {file({tensor("a", 0, 4), tensor("e", 2, 2)}, 4), "begin at byte 2, 4 expected: it overlaps"},
      {file({tensor("a", 0, 4), tensor("b", 4, 9)}, 8), "end at byte 9, but the file holds 8"},
      {file({tensor("a", 0, 4), tensor("b", 4, 7)}, 8), "take 7 bytes, but the file holds 8"},
  });
}

TEST_CASE("a file cut off at any length") {
  const std::string file = file_of(kGoodHeader, kGoodData);
  for (std::size_t length = 0; length < file.size(); ++length) {
    INFO(length);
    CHECK(verdict_on_bytes(file.substr(0, length)) != "");
  }
}

// A bit can change a name, or an F32 into a type of the same size; what is read then is still
// within the file. The checks are those of verdict_on().
TEST_CASE("one bit flipped anywhere in front of the data") {
  const std::string file = file_of(kGoodHeader, kGoodData);
  std::size_t refused = 0, flips = 0;
  for (std::size_t i = 0; i < file.size() - kGoodData.size(); ++i)
    for (int bit = 0; bit < 8; ++bit, ++flips) {
      std::string flipped = file;
      flipped[i] = static_cast<char>(flipped[i] ^ 1 << bit);
      refused += verdict_on_bytes(flipped) != "";
    }
  CHECK(refused > flips / 2);
  CHECK(refused < flips);
}

TEST_CASE("20,000 headers with up to four mistakes") {
  std::mt19937 random(20'260'101);
  std::set<std::string> messages;
  int accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string header = kGoodHeader;
    for (std::size_t mistakes = 1 + random() % 4; mistakes > 0; --mistakes)
      header = mutated(header, random);
    const std::string message = verdict_on_bytes(file_of(header, kGoodData));
    accepted += message.empty();
    messages.insert(message);
  }
  CHECK(accepted > 100);          // a name changed, a space more
  CHECK(messages.size() > 1000);  // the mistakes are found in many places
}
