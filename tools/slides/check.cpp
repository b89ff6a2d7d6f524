#include "tools/slides/check.h"

#include "base/atomic_file.h"
#include "tools/slides/browser.h"
#include "tools/slides/sources.h"

namespace shardlings {

namespace fs = std::filesystem;

namespace {

constexpr int kFewestSlides = 6, kMostSlides = 10;
constexpr int kWidth = 1280, kHeight = 720;  // of a slide, in CSS pixels

std::ptrdiff_t count(std::string_view text, std::string_view part) {
  std::ptrdiff_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++found;
  return found;
}

std::ptrdiff_t slides_of(const std::string& html) {
  return count(html, "<header ") + count(html, "<section ");
}

void find_loads(const std::string& html, std::vector<std::string>& findings) {
  for (const char* load : {"http:", "https:", "<link", "<img", "<iframe", "@import", " src="})
    if (html.find(load) != html.npos)
      findings.push_back(fmt::format("a deck loads nothing, but this one holds \"{}\"", load));
  if (count(html, "url(") != count(html, "url(#"))
    findings.push_back("a deck loads nothing, but this one holds \"url(\"");
}

// A copy of the deck with every slide at its full size, whatever the window, and with `more` at its
// end.
fs::path laid_out(const fs::path& html, const std::string& text, const std::string& more) {
  fs::path copy = html;
  copy.replace_extension(".check.html");
  const std::string size = fmt::format(
      "<style>:root {{ --page-width: {}px; --page-height: {}px; --unit: {}px; }}</style>\n", kWidth,
      kHeight, kWidth / 40);
  write_file_atomically(copy, replaced_all(text, "</body>", size + more + "</body>"));
  return copy;
}

// What template/layout.js writes into the page.
void find_misfits(const fs::path& html, const std::string& text,
                  std::vector<std::string>& findings) {
  const std::string script = read_text(TEMPLATE_FOLDER "/layout.js");
  const fs::path page = laid_out(html, text, "<script>" + script + "</script>");
  const std::string dom =
      open_in_browser(page, {fmt::format("--window-size={},{}", kWidth, kHeight), "--dump-dom"});
  fs::remove(page);

  constexpr std::string_view kBegin = "<pre id=\"findings\">", kEnd = "</pre>";
  const std::size_t begin = dom.find(kBegin);
  if (begin == dom.npos) fail(ExitCode::unavailable, "Chromium did not lay out {}", html.string());
  const std::size_t end = dom.find(kEnd, begin);
  for (const std::string& line :
       lines_of(std::string_view(dom).substr(0, end).substr(begin + kBegin.size())))
    findings.push_back(replaced_all(replaced_all(line, "&lt;", "<"), "&gt;", ">"));
}

}  // namespace

std::vector<std::string> findings_on(const fs::path& html) {
  const std::string text = read_text(html);
  std::vector<std::string> findings;
  const std::ptrdiff_t slides = slides_of(text);
  if (slides < kFewestSlides || slides > kMostSlides)
    findings.push_back(
        fmt::format("expected {} to {} slides, got {}", kFewestSlides, kMostSlides, slides));
  find_loads(text, findings);
  find_misfits(html, text, findings);
  return findings;
}

void draw_deck(const fs::path& html, const fs::path& png) {
  const std::string text = read_text(html);
  const fs::path page = laid_out(html, text, "");
  make_in_browser(png, "--screenshot=", page,
                  {fmt::format("--window-size={},{}", kWidth, kHeight * slides_of(text))});
  fs::remove(page);
}

}  // namespace shardlings
