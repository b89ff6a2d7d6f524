#include "storage/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"

namespace shardlings {

namespace {

constexpr std::size_t kMaxDepth = 8;
constexpr std::int64_t kMaxValues = 1'000'000;

// Builds the tree as the parser meets its parts.
class TreeBuilder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit TreeBuilder(const std::string& where) : where_(where) {}

  Json take() { return std::move(root_); }

  bool null() override { return put(Json::Null()); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(std::int64_t value) override { return put(value); }
  bool number_unsigned(std::uint64_t value) override {
    return std::in_range<std::int64_t>(value) ? put(static_cast<std::int64_t>(value))
                                              : put(static_cast<double>(value));
  }
  bool number_float(double value, const std::string&) override { return put(value); }
  bool string(std::string& value) override { return put(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // not in a text

  bool start_object(std::size_t) override { return open(Json::Object()); }
  bool start_array(std::size_t) override { return open(Json::Array()); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    std::get<Json::Object>(open_.back()->value).push_back({std::move(name), {}});
    return true;
  }

  bool end_object() override {
    std::vector<std::string_view> names;
    for (const JsonMember& member : std::get<Json::Object>(open_.back()->value))
      names.push_back(member.name);
    std::ranges::sort(names);
    if (const auto twice = std::ranges::adjacent_find(names); twice != names.end())
      fail(ExitCode::bad_data, "{}: the name {} is there twice", where_,
           excerpt({std::string(*twice)}));
    return close();
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception&) override {
    refuse_from(position);
  }

  [[noreturn]] void refuse_from(std::size_t position) const {
    fail(ExitCode::bad_data, "{}: not JSON from byte {} on", where_, position);
  }

 private:
  // Where the next value belongs. Open containers do not move: only the innermost one grows.
  Json& place() {
    if (++values_ > kMaxValues)
      fail(ExitCode::bad_data, "{}: more than {} values", where_, kMaxValues);
    if (open_.empty()) return root_;
    auto& container = open_.back()->value;
    if (auto* array = std::get_if<Json::Array>(&container)) return array->emplace_back();
    return std::get<Json::Object>(container).back().value;
  }

  bool put(decltype(Json::value) value) {
    place().value = std::move(value);
    return true;
  }

  bool open(decltype(Json::value) container) {
    if (open_.size() == kMaxDepth)
      fail(ExitCode::bad_data, "{}: nested more than {} levels deep", where_, kMaxDepth);
    Json& here = place();
    here.value = std::move(container);
    open_.push_back(&here);
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  const std::string& where_;
  Json root_;
  std::vector<Json*> open_;  // containers, the outermost first
  std::int64_t values_ = 0;
};

// One overload per kind of value.
struct Writer {
  std::string operator()(Json::Null) const { return "null"; }
  std::string operator()(const auto& scalar) const {
    return nlohmann::json(scalar).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  }

  std::string operator()(const Json::Array& array) const {
    std::string text;
    for (const Json& element : array) {
      text += text.empty() ? "[" : ",";
      text += json_text(element);
    }
    return text.empty() ? "[]" : text + "]";
  }

  std::string operator()(const Json::Object& object) const {
    std::string text;
    for (const auto& [name, value] : object) {
      text += text.empty() ? "{" : ",";
      text += (*this)(name) + ":" + json_text(value);
    }
    return text.empty() ? "{}" : text + "}";
  }
};

}  // namespace

const Json* find(const Json::Object& object, std::string_view name) {
  const auto member = std::ranges::find(object, name, &JsonMember::name);
  return member == object.end() ? nullptr : &member->value;
}

Json parse_json(std::string_view text, const std::string& where) {
  TreeBuilder builder(where);
  // The parser takes a zero byte for the end of the text.
  if (const std::size_t zero = text.find('\0'); zero != text.npos) builder.refuse_from(zero + 1);
  nlohmann::json::sax_parse(text, &builder);
  return builder.take();
}

std::string json_text(const Json& json) {
  return std::visit(Writer(), json.value);
}

std::string excerpt(const Json& json) {
  constexpr std::size_t kShown = 60;
  const std::string text = json_text(json);
  return text.size() <= kShown ? text : text.substr(0, kShown) + "...";
}

}  // namespace shardlings
