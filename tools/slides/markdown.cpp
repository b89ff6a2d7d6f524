#include "tools/slides/markdown.h"

#include <algorithm>
#include <regex>

#include "tools/slides/golden.h"
#include "tools/slides/picture.h"
#include "tools/slides/region.h"

namespace shardlings {

namespace {

constexpr std::string_view kFence = "```", kFrontMatter = "---";

// Characters of the longest line (UTF-8).
std::ptrdiff_t columns(const std::string& text) {
  std::ptrdiff_t most = 0;
  for (const std::string& line : lines_of(text))
    most = std::max(most, std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; }));
  return most;
}

class Expander {
 public:
  Expander(const std::filesystem::path& deck, const std::filesystem::path& work, Sources& sources)
      : deck_(deck), work_(work), sources_(sources) {}

  std::string expand() {
    std::size_t number = 0;
    for (const std::string& line : lines_of(sources_.read(deck_)))
      at(fmt::format("{}:{}", deck_.string(), ++number), [&] { (this->*where_)(line); });
    if (where_ != &Expander::on_slide)
      fail(ExitCode::bad_data, "{} ends before its first slide or in a block", deck_.string());
    return text_;
  }

 private:
  void write(const std::string& line) { text_ += line + '\n'; }
  void write_with_numbers(const std::string& line) {
    write(with_golden_numbers(line, deck_.stem().string(), sources_));
  }

  // Each of these takes one line, according to where it stands.

  void at_start(const std::string& line) {
    if (line != kFrontMatter)
      fail(ExitCode::bad_data, "expected the line \"---\", and then \"title: ...\"");
    write(line);
    where_ = &Expander::in_front_matter;
  }

  void in_front_matter(const std::string& line) {
    write_with_numbers(line);
    if (line == kFrontMatter) where_ = &Expander::before_slides;
  }

  void before_slides(const std::string& line) {
    if (!line.empty() && !line.starts_with("## "))
      fail(ExitCode::bad_data, "expected \"## Title\", the first slide, got \"{}\"", line);
    write_with_numbers(line);
    if (!line.empty()) where_ = &Expander::on_slide;
  }

  void on_slide(const std::string& line) {
    if (line.starts_with("# "))
      fail(ExitCode::bad_data, "a slide begins with \"## Title\", got \"{}\"", line);
    if (line.starts_with(kFence)) return open_block(line);
    if (line.find("![") == line.npos) return write_with_numbers(line);
    const Picture picture = parse_picture(line);
    write("\n```{=html}\n" + picture_html(picture, deck_, work_, sources_) + "\n```");
  }

  void open_block(const std::string& line) {
    static const std::regex kRegion(R"rx((.*)region="([^"#]+)#([^"]+)"(.*))rx");
    std::smatch parts;
    if (std::regex_match(line, parts, kRegion)) {
      const std::string file = parts[2], name = parts[3], source = sources_.read(file);
      const std::string code = at(file, [&] { return region_of(source, name); });
      write(fmt::format("{}style=\"--columns: {}\"{}", parts[1].str(), columns(code),
                        parts[4].str()));
      text_ += code;
      where_ = &Expander::in_region;
    } else if (line.find("cpp") != line.npos || line.find("c++") != line.npos) {
      fail(ExitCode::bad_data, "C++ on a slide is taken from a source: add region=\"FILE#NAME\"");
    } else {
      write(line);
      where_ = &Expander::in_block;
    }
  }

  void in_region(const std::string& line) {
    if (line != kFence)
      fail(ExitCode::bad_data, "a block with a region is empty, got \"{}\"", line);
    write(line);
    where_ = &Expander::on_slide;
  }

  void in_block(const std::string& line) {
    write_with_numbers(line);
    if (line == kFence) where_ = &Expander::on_slide;
  }

  const std::filesystem::path& deck_;
  const std::filesystem::path& work_;
  Sources& sources_;
  void (Expander::*where_)(const std::string& line) = &Expander::at_start;
  std::string text_;
};

}  // namespace

std::string expand_deck(const std::filesystem::path& deck, const std::filesystem::path& work,
                        Sources& sources) {
  return Expander(deck, work, sources).expand();
}

std::string front_matter(std::string_view deck, std::string_view key) {
  for (const std::string& line : lines_of(deck)) {
    if (!line.starts_with(std::string(key) + ": ")) continue;
    std::string value = line.substr(key.size() + 2);
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
      value = value.substr(1, value.size() - 2);
    return value;
  }
  return "";
}

}  // namespace shardlings
