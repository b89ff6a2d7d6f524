#include "tools/exercises/texts.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <regex>

#include "base/check.h"

namespace shardlings {

namespace {

// The lines of a file, one after the other.
class Lines {
 public:
  explicit Lines(const std::filesystem::path& path) : path_(path) {
    std::ifstream file(path);
    if (!file) fail(ExitCode::no_input, "cannot read {}: {}", path.string(), std::strerror(errno));
    for (std::string line; std::getline(file, line);) lines_.push_back(line);
    skip_blank();
  }

  bool at_end() const { return next_ == lines_.size(); }
  const std::string& peek() const {
    static const std::string kNothing;
    return at_end() ? kNothing : lines_[next_];
  }
  std::string take() { return at_end() ? "" : lines_[next_++]; }
  void skip_blank() {
    while (!at_end() && peek().empty()) ++next_;
  }

  // What `pattern` captures of the next line that is not blank.
  std::string expect(const std::string& pattern, const std::string& what) {
    std::smatch match;
    if (!std::regex_match(peek(), match, std::regex(pattern))) refuse(what);
    std::string captured = match.size() > 1 ? match[1].str() : "";
    take();
    skip_blank();
    return captured;
  }

  // "1. ...", "2. ...": a paragraph each; lines that go on are indented.
  std::vector<std::string> numbered() {
    std::vector<std::string> items;
    while (peek().starts_with(fmt::format("{}. ", items.size() + 1))) {
      std::string item = take();
      item.erase(0, item.find(' ') + 1);
      for (; peek().starts_with("   "); take()) item += peek().substr(2);
      items.push_back(item);
      skip_blank();
    }
    return items;
  }

  [[noreturn]] void refuse(const std::string& expected) const {
    fail(ExitCode::bad_data, "{}:{}: expected {}, got {}", path_.string(), next_ + 1, expected,
         at_end() ? "the end of the file" : "\"" + peek() + "\"");
  }

 private:
  std::filesystem::path path_;
  std::vector<std::string> lines_;
  std::size_t next_ = 0;
};

}  // namespace

std::vector<Hints> read_hints(const std::filesystem::path& path) {
  Lines lines(path);
  lines.expect("# .+", "a title, \"# Hints for exercise 10\"");
  std::vector<Hints> all;
  do {
    Hints hints{.step = lines.expect(R"(## (\d+\.\d+))", "a step, \"## 10.1\""), .levels = {}};
    const std::vector<std::string> items = lines.numbered();
    if (items.size() != hints.levels.size()) lines.refuse("hints 1. to 3. of " + hints.step);
    std::ranges::copy(items, hints.levels.begin());
    all.push_back(hints);
  } while (!lines.at_end());
  return all;
}

Drill read_drill(const std::filesystem::path& path) {
  Lines lines(path);
  lines.expect("# .+", "a title, \"# Drill 10\"");
  Drill drill;
  drill.run = lines.expect("<!-- run: (.+) -->", "what was run, \"<!-- run: fault --options -->\"");
  while (!lines.at_end() && !lines.peek().starts_with("1. ")) drill.story += lines.take() + "\n";
  drill.story.erase(drill.story.find_last_not_of('\n') + 1);
  for (const std::string& text : lines.numbered()) drill.choices.push_back({text, ""});
  const std::size_t count = drill.choices.size();
  if (count < 2) lines.refuse("at least two choices");
  const std::string answer = lines.expect(R"(## Answer: (\d))", "\"## Answer: 2\"");
  drill.answer = static_cast<std::size_t>(answer[0] - '0');
  const std::vector<std::string> reasons = lines.numbered();
  if (reasons.size() != count || !lines.at_end() || drill.answer < 1 || drill.answer > count)
    lines.refuse(fmt::format("an answer from 1 to {0}, then why, 1. to {0}.", count));
  for (std::size_t i = 0; i < count; ++i) drill.choices[i].why = reasons[i];
  return drill;
}

}  // namespace shardlings
