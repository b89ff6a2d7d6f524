#include "clock/cluster_file.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "base/atomic_file.h"
#include "base/check.h"
#include "base/suggest.h"

namespace shardlings {

namespace {

using Words = std::vector<std::string_view>;

[[noreturn]] void refuse(const std::string& file, const toml::source_region& at,
                         const std::string& what) {
  fail(ExitCode::bad_data, "{}:{}:{}: {}", file, at.begin.line, at.begin.column, what);
}

std::string instead_of(std::string_view word, const Words& words) {
  const std::string near = nearest(word, words);
  return near.empty() ? fmt::format("there are {}", fmt::join(words, ", "))
                      : fmt::format("did you mean {}?", near);
}

// Fit for a key without quotes, and for a report.
bool is_plain(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
}

// A table "[chip.h100]", which has all of `keys` and no others.
class Entry {
 public:
  Entry(const std::string& file, const std::string& title, const toml::node& node,
        const Words& keys)
      : file_(file), title_(title), table_(node.as_table()) {
    if (table_ == nullptr) refuse(file, node.source(), fmt::format("expected a table [{}]", title));
    for (const auto& [key, value] : *table_)
      if (std::ranges::find(keys, key.str()) == keys.end())
        refuse(file, key.source(),
               fmt::format("[{}] has no {:?}; {}", title, key.str(), instead_of(key.str(), keys)));
  }

  // A name, in the table or in one of another kind.
  std::string name(const char* key) const {
    const toml::node& node = at(key, "a name");
    const auto text = node.value_exact<std::string>();
    if (!text || !is_plain(*text))
      refuse(file_, node.source(),
             fmt::format("{}: expected a name of letters, digits, - and _, in quotes", key));
    return *text;
  }

  // The one of `named` whose name stands at `key`.
  template <class Named>
  const Named& one_of(const std::map<std::string, Named>& named, const char* key,
                      const char* kind) const {
    const std::string wanted = name(key);
    const auto found = named.find(wanted);
    if (found != named.end()) return found->second;
    Words names;
    for (const auto& [other, value] : named) names.push_back(other);
    refuse(file_, at(key, "a name").source(),
           fmt::format("{}: there is no [{}.{}] in this file; {}", key, kind, wanted,
                       names.empty() ? "there is none" : instead_of(wanted, names)));
  }

  double positive(const char* key) const {
    const double value = number(key);
    if (value > 0) return value;
    refuse(file_, at(key, "a number").source(),
           fmt::format("{}: expected a number above zero, got {}", key, value));
  }

  double not_negative(const char* key) const {
    const double value = number(key);
    if (value >= 0) return value;
    refuse(file_, at(key, "a number").source(),
           fmt::format("{}: expected zero or more, got {}", key, value));
  }

  std::int64_t count(const char* key) const {
    const double value = positive(key);
    if (value == std::floor(value) && value <= 1e6) return static_cast<std::int64_t>(value);
    refuse(file_, at(key, "a number").source(),
           fmt::format("{}: expected a whole number from 1 to a million, got {}", key, value));
  }

 private:
  const toml::node& at(const char* key, const char* what) const {
    const toml::node* node = table_->get(key);
    if (node == nullptr)
      refuse(file_, table_->source(), fmt::format("[{}] lacks {} ({})", title_, key, what));
    return *node;
  }

  double number(const char* key) const {
    const toml::node& node = at(key, "a number");
    const toml::table* pair = node.as_table();
    const toml::node* value = pair == nullptr ? nullptr : pair->get("value");
    const auto source = pair == nullptr ? std::nullopt : (*pair)["source"].value<std::string>();
    if (value == nullptr || !value->is_number() || !source || source->empty() || pair->size() != 2)
      refuse(file_, node.source(),
             fmt::format("{}: expected {{ value = 3e12, source = \"where it is from\" }}", key));
    const double number = *value->value<double>();
    if (!std::isfinite(number))
      refuse(file_, value->source(), fmt::format("{}: expected a finite number", key));
    return number;
  }

  const std::string& file_;
  std::string title_;
  const toml::table* table_;
};

const Words kKinds{"chip", "link", "cluster"};

// Calls read(name, entry) for each table [kind.name], in the order of the file.
void for_each(const std::string& file, const toml::table& document, std::string_view kind,
              const Words& keys, const auto& read) {
  const toml::node* group = document.get(kind);
  if (group == nullptr) return;
  if (group->as_table() == nullptr)
    refuse(file, group->source(), fmt::format("expected tables [{}.NAME]", kind));
  std::vector<const toml::key*> names;
  for (const auto& [name, node] : *group->as_table()) names.push_back(&name);
  std::ranges::sort(names, {}, [](const toml::key* name) { return name->source().begin; });
  for (const toml::key* name : names) {
    if (!is_plain(name->str()))
      refuse(file, name->source(),
             fmt::format("{:?} is no name: expected letters, digits, - and _", name->str()));
    read(std::string(name->str()), Entry(file, fmt::format("{}.{}", kind, name->str()),
                                         *group->as_table()->get(name->str()), keys));
  }
}

toml::table parse(std::string_view text, const std::string& file) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    std::string what(error.description());
    // It may quote the file, line ends and all.
    std::ranges::replace_if(
        what, [](unsigned char c) { return c < ' '; }, ' ');
    refuse(file, error.source(), what);
  }
}

}  // namespace

std::vector<Cluster> parse_clusters(std::string_view text, const std::string& file) {
  const toml::table document = parse(text, file);
  for (const auto& [key, node] : document)
    if (std::ranges::find(kKinds, key.str()) == kKinds.end())
      refuse(file, key.source(),
             fmt::format("unknown {:?}; {}", key.str(), instead_of(key.str(), kKinds)));

  std::map<std::string, Chip> chips;
  for_each(file, document, "chip", {"precision", "flops", "memory_bandwidth", "memory_bytes"},
           [&](const std::string& name, const Entry& entry) {
             chips[name] = {.name = name,
                            .flops = entry.positive("flops"),
                            .precision = entry.name("precision"),
                            .memory_bandwidth = entry.positive("memory_bandwidth"),
                            .memory_bytes = entry.positive("memory_bytes")};
           });
  std::map<std::string, Link> links;
  for_each(file, document, "link", {"class", "latency", "bandwidth"},
           [&](const std::string& name, const Entry& entry) {
             links[name] = {.name = entry.name("class"),
                            .latency = entry.not_negative("latency"),
                            .bandwidth = entry.positive("bandwidth")};
           });
  std::vector<Cluster> clusters;
  for_each(file, document, "cluster", {"chip", "chips_per_node", "inside", "between"},
           [&](const std::string& name, const Entry& entry) {
             clusters.push_back({.name = name,
                                 .chip = entry.one_of(chips, "chip", "chip"),
                                 .chips_per_node = entry.count("chips_per_node"),
                                 .inside = entry.one_of(links, "inside", "link"),
                                 .between = entry.one_of(links, "between", "link")});
           });
  return clusters;
}

Cluster read_cluster(const std::filesystem::path& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  // A directory opens, and cannot be read; an empty file fails as well, but for no reason.
  if (!file.is_open() || (text.fail() && errno != 0))
    fail(ExitCode::no_input, "cannot read {}: {}", path.string(), std::strerror(errno));
  std::vector<Cluster> clusters = parse_clusters(text.str(), path.string());
  if (clusters.size() != 1)
    fail(ExitCode::bad_data, "{}: expected one table [cluster.NAME], found {}", path.string(),
         clusters.size());
  return std::move(clusters[0]);
}

void write_cluster(const Cluster& cluster, const std::string& source,
                   const std::filesystem::path& path) {
  std::string text;
  const auto number = [&](const char* key, auto value) {
    text += fmt::format("{} = {{ value = {}, source = \"{}\" }}\n", key, value, source);
  };
  const Chip& chip = cluster.chip;
  text += fmt::format("[chip.{}]\nprecision = \"{}\"\n", chip.name, chip.precision);
  number("flops", chip.flops);
  number("memory_bandwidth", chip.memory_bandwidth);
  number("memory_bytes", chip.memory_bytes);
  for (const auto& [key, link] :
       {std::pair{"inside", cluster.inside}, {"between", cluster.between}}) {
    text += fmt::format("\n[link.{}]\nclass = \"{}\"\n", key, link.name);
    number("latency", link.latency);
    number("bandwidth", link.bandwidth);
  }
  text += fmt::format("\n[cluster.{}]\nchip = \"{}\"\n", cluster.name, chip.name);
  number("chips_per_node", cluster.chips_per_node);
  text += "inside = \"inside\"\nbetween = \"between\"\n";

  CHECK(parse_clusters(text, path.string()) == std::vector{cluster},
        "{}: would not give cluster {} back", path.string(), cluster.name);
  write_file_atomically(path, text);
}

}  // namespace shardlings
