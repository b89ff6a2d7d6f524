#include "tests/layers/layer_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>

#include "base/check.h"

namespace shardlings {

namespace {

// Compile times are what they are because each of these stands behind a small interface of ours.
struct HeavyLibrary {
  std::string headers;              // how their paths begin
  std::vector<std::string> layers;  // whose sources may include them
};

const std::vector<HeavyLibrary>& heavy_libraries() {
  static const std::vector<HeavyLibrary> libraries{
      {"Eigen/", {"device"}},           {"nlohmann/", {"course", "storage"}},
      {"toml++/", {"budget", "clock"}}, {"muParser", {"budget"}},
      {"Random123/", {"base"}},
  };
  return libraries;
}

// A line of a source, as a rule sees it.
struct Place {
  std::string file;  // from the root: "common/base/check.h"
  int line;

  std::string says(const std::string& what) const {
    return fmt::format("{}:{}: {}", file, line, what);
  }
};

// "common/base/check.h", 1 -> "base".
std::string part(const std::string& path, int index) {
  std::istringstream parts(path);
  std::string name;
  for (int i = 0; i <= index; ++i)
    if (!std::getline(parts, name, '/')) return "";
  return name;
}

class Checker {
 public:
  explicit Checker(const Layers& layers) : layers_(layers) {}

  void check(const Place& place, const std::string& text) {
    static const std::regex include(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"].*)");
    static const std::regex conditional(R"(^\s*#\s*(if|ifdef|ifndef|elif)\b.*)");
    std::smatch match;
    if (std::regex_match(text, match, include)) {
      check_direction(place, match[2], match[1] == "\"");
      check_weight(place, match[2]);
    } else if (std::regex_match(text, conditional) && !place.file.starts_with("common/device/") &&
               !place.file.starts_with("common/comm/")) {
      report(place, "code is compiled conditionally only in common/device/ and common/comm/");
    }
  }

  std::vector<std::string> messages;

 private:
  void report(const Place& place, const std::string& what) { messages.push_back(place.says(what)); }

  void check_direction(const Place& place, const std::string& header, bool quoted) {
    const bool of_common = part(place.file, 0) == "common";
    const std::string own = part(place.file, 1);  // a layer, or a lesson's folder
    const std::string top = part(header, 0);
    if (layers_.contains(top)) {
      if (of_common && top != own && !layers_.at(own).contains(top))
        report(place, fmt::format("layer {} may not include \"{}\": {} is not below it", own,
                                  header, top));
    } else if (top == "lessons") {
      if (of_common)
        report(place, fmt::format("common may not include \"{}\"", header));
      else if (part(header, 1).substr(0, 2) > own.substr(0, 2))
        report(place,
               fmt::format("lesson {} may not include \"{}\", which is not an earlier lesson",
                           own.substr(0, 2), header));
    } else if (quoted) {
      report(place,
             fmt::format("\"{}\" is neither a path from common/ nor one of a lesson", header));
    }
  }

  void check_weight(const Place& place, const std::string& header) {
    for (const auto& [headers, layers] : heavy_libraries()) {
      if (!header.starts_with(headers)) continue;
      auto& users = users_[headers];
      users.insert(place.file);
      if (std::ranges::count(layers, part(place.file, 1)) == 0 || !place.file.ends_with(".cpp"))
        report(place, fmt::format("<{}> may be included only by sources (.cpp) of {}", header,
                                  fmt::join(layers, ", ")));
      else if (users.size() > 2)
        report(place, fmt::format("<{}> is already included by two other sources", header));
    }
  }

  const Layers& layers_;
  std::map<std::string, std::set<std::string>> users_;  // of each heavy library
};

}  // namespace

Layers layers_of(const std::string& lines) {
  Layers layers;
  std::istringstream input(lines);
  for (std::string line; std::getline(input, line);) {
    std::istringstream words(line);
    std::string layer, neighbour;
    words >> layer;
    std::set<std::string>& below = layers[layer];
    while (words >> neighbour) {
      CHECK(layers.contains(neighbour) && neighbour != layer,
            "layer {}: its neighbour {} is not one of the layers before it", layer, neighbour);
      below.insert(neighbour);
      below.insert(layers[neighbour].begin(), layers[neighbour].end());
    }
  }
  return layers;
}

std::vector<std::string> broken_rules(const std::filesystem::path& root, const Layers& layers) {
  std::vector<std::string> files;
  for (const char* top : {"common", "lessons", "solutions", "exercises"}) {
    if (!std::filesystem::exists(root / top)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / top)) {
      const std::string extension = entry.path().extension();
      if (extension == ".h" || extension == ".cpp" || extension == ".cu")
        files.push_back(entry.path().lexically_relative(root));
    }
  }
  CHECK(!files.empty(), "there are no sources under {}", root.string());
  std::ranges::sort(files);

  Checker checker(layers);
  for (const std::string& file : files) {
    if (part(file, 0) == "common" && !layers.contains(part(file, 1))) {
      checker.messages.push_back(file + ": belongs to no layer that a CMakeLists.txt adds");
      continue;
    }
    std::ifstream source(root / file);
    int line = 0;
    for (std::string text; std::getline(source, text);) checker.check({file, ++line}, text);
  }
  return checker.messages;
}

}  // namespace shardlings
