#include "storage/json.h"

#include "base/check.h"
#include "tests/support/catch.h"

using namespace shardlings;

TEST_CASE("JSON comes back as it went") {
  for (const char* text :
       {"null", "true", "-12", "9223372036854775807", "0.5", "1e-05", "[]", "{}",
        R"("\"\\\n\u0000\u00e9\ud83d\ude00\u007f")", R"({"a":[1,{"b":[]},"x"],"":null})"})
    CHECK(json_text(parse_json(text, "text")) == text);
}

TEST_CASE("whole numbers are whole only as far as 63 bits go") {
  CHECK(std::get<std::int64_t>(parse_json("-9223372036854775808", "").value) == INT64_MIN);
  CHECK(std::get<double>(parse_json("9223372036854775808", "").value) == 0x1p63);
  CHECK(std::get<double>(parse_json("18446744073709551616", "").value) == 0x1p64);
}

TEST_CASE("members are found by name") {
  const Json json = parse_json(R"({"a":1,"b":2})", "text");
  const auto& object = std::get<Json::Object>(json.value);
  CHECK(json_text(*find(object, "b")) == "2");
  CHECK(find(object, "c") == nullptr);
}

TEST_CASE("the limits of what is read") {
  const auto nested = [](int depth) {
    std::string text;
    for (int i = 0; i < depth; ++i) text += '[';
    for (int i = 0; i < depth; ++i) text += ']';
    return text;
  };
  CHECK(json_text(parse_json(nested(8), "text")) == nested(8));
  CHECK_THROWS_WITH(parse_json(nested(9), "a.json"), "a.json: nested more than 8 levels deep");
  CHECK_THROWS_WITH(parse_json("{\"a\":1,\"b\":1,\"a\":2}", "a.json"),
                    "a.json: the name \"a\" is there twice");
  CHECK_THROWS_WITH(parse_json("[1 2]", "a.json"), "a.json: not JSON from byte 4 on");
  CHECK_THROWS_WITH(parse_json({"{}\0", 3}, "a.json"), "a.json: not JSON from byte 3 on");
  CHECK_THROWS_WITH(parse_json("", "a.json"), "a.json: not JSON from byte 1 on");
}

TEST_CASE("an excerpt is short and on one line, whatever the text") {
  CHECK(excerpt({std::string("\xff\n")}) == R"("\ufffd\n")");
  CHECK(excerpt({std::string(1000, 'x')}) == "\"" + std::string(59, 'x') + "...");
}
