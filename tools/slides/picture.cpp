#include "tools/slides/picture.h"

#include <regex>

#include "base/atomic_file.h"
#include "base/units.h"
#include "tools/driver/process.h"
#include "tools/slides/golden.h"

namespace shardlings {

namespace {

// Boxes are measured with the widest font in common use and shown in the deck's: words stay inside.
const std::string kFont = "DejaVu Sans";

std::string drawn_by_graphviz(const std::string& dot, const std::filesystem::path& work) {
  std::filesystem::path dot_file = work, svg_file = work;
  dot_file += ".dot";
  svg_file += ".svg";
  write_file_atomically(dot_file, dot);
  const int status =
      run({"dot", "-Tsvg", "-Gbgcolor=transparent", "-Gfontname=" + kFont, "-Nfontname=" + kFont,
           "-Efontname=" + kFont, "-Nshape=box", "-Nstyle=rounded", "-o", svg_file, dot_file});
  if (status != 0)
    fail(ExitCode::bad_data, "graphviz (dot) failed on {}: exit code {}", dot_file.string(),
         status);
  // Names of nodes are no text for readers, and would repeat from picture to picture.
  return std::regex_replace(read_text(svg_file),
                            std::regex(R"( (id|font-family)="[^"]*"|<title>[^<]*</title>)"), "");
}

std::string escaped(std::string text) {
  text = replaced_all(std::move(text), "&", "&amp;");
  text = replaced_all(std::move(text), "<", "&lt;");
  return replaced_all(std::move(text), "\"", "&quot;");
}

}  // namespace

Picture parse_picture(std::string_view line) {
  static const std::regex kForm(R"(!\[([^\]]+)\]\(([^)\s]+\.(?:svg|dot))\))");
  std::match_results<std::string_view::const_iterator> parts;
  if (!std::regex_match(line.begin(), line.end(), parts, kForm))
    fail(ExitCode::bad_data,
         "expected ![what it shows](picture.svg or .dot) on a line of its own, got \"{}\"", line);
  return {parts[1], parts[2].str()};
}

std::string picture_html(const Picture& picture, const std::filesystem::path& deck,
                         const std::filesystem::path& work, Sources& sources) {
  const std::filesystem::path file = deck.parent_path() / picture.file;
  std::string svg;
  std::size_t number = 0;
  for (const std::string& line : lines_of(sources.read(file)))
    svg += at(fmt::format("{}:{}", file.string(), ++number),
              [&] { return with_golden_numbers(line, deck.stem().string(), sources) + '\n'; });
  if (file.extension() == ".dot") svg = drawn_by_graphviz(svg, work / file.stem());

  std::smatch view;  // x, y, width and height
  if (!std::regex_search(svg, view,
                         std::regex(R"(<svg[^>]*\s(viewBox="\S+ \S+ (\S+) \S+")[^>]*>)")))
    fail(ExitCode::bad_data, "{} holds no <svg ... viewBox=\"x y width height\">", file.string());
  constexpr double kTextUnits = 0.9, kTextSize = 14;  // body in deck.css; see picture.h
  return fmt::format(
      "<figure><svg {} style=\"width: {:.2f}rem\" role=\"img\" aria-label=\"{}\">{}</figure>",
      view.str(1), parse_number(view.str(2), "viewBox") * kTextUnits / kTextSize,
      escaped(picture.shows),
      std::regex_replace(view.suffix().str(), std::regex("<!--[^]*?-->"), ""));
}

}  // namespace shardlings
