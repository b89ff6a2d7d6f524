// JSON as plain data, read strictly: no name twice in an object, at most 8 levels, at most a
// million values, so that a hostile text costs little before it is refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace shardlings {

struct JsonMember;

struct Json {
  using Null = std::monostate;
  using Array = std::vector<Json>;
  using Object = std::vector<JsonMember>;  // in the order of the text

  // A whole number that no int64 holds is a double.
  std::variant<Null, bool, std::int64_t, double, std::string, Array, Object> value;
};

struct JsonMember {
  std::string name;
  Json value;
};

// Null when there is no such member.
const Json* find(const Json::Object& object, std::string_view name);

// `where` begins the message: "gpt2/config.json".
// Errors: Error(bad_data) with the byte at which `text` stops being JSON, or the limit it breaks.
Json parse_json(std::string_view text, const std::string& where);

// On one line, in ASCII.
std::string json_text(const Json& json);

// The first 60 characters of that, for a message.
std::string excerpt(const Json& json);

}  // namespace shardlings
