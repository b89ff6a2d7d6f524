// The whole chain, with pandoc, graphviz and Chromium.
#include "tests/slides/demo_copy.h"
#include "tools/slides/browser.h"
#include "tools/slides/check.h"
#include "tools/slides/deck.h"
#include "tools/slides/sources.h"
// The last:
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

using Findings = std::vector<std::string>;

// What is wrong with a deck of six slides, one of which holds `content`.
Findings findings_with(const std::string& content) {
  const DemoCopy demo;
  write_file("slides/one.md", "---\ntitle: One\n---\n\n## Slide\n\n" + content +
                                  "\n\n## A\n\n## B\n\n## C\n\n## D\n");
  build_deck("slides/one.md", "one.html");
  return findings_on("one.html");
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

bool mentions(const Findings& findings, const std::string& words) {
  for (const std::string& finding : findings)
    if (finding.find(words) != finding.npos) return true;
  return false;
}

}  // namespace

TEST_CASE("the demo deck becomes one page without a fault") {
  const DemoCopy demo;
  build_deck("slides/demo.md", "demo.html");
  CHECK(findings_on("demo.html") == Findings{});

  const std::string html = read_text("demo.html");
  for (const char* part : {"842,496 parameters", "34.1 MiB", "width: 9.4%", "<math", "<svg",
                           "double</span> step", "--columns: 37"})
    CHECK(html.find(part) != html.npos);

  const std::string dependencies = read_text("demo.html.d");
  CHECK(dependencies.starts_with("demo.html: /"));
  for (const char* file : {"demo.md", "step.dot", "life.svg", "step.cpp", "demo.json"})
    CHECK(dependencies.find(file) != dependencies.npos);
}

TEST_CASE("a deck is printed with one slide per page, and listed") {
  const DemoCopy demo;
  build_deck("slides/demo.md", "demo.html");
  print_deck("demo.html", "demo.pdf");
  CHECK(read_text("demo.pdf").find("/Count 7\n") != std::string::npos);

  build_index({"slides/demo.md"}, "index.html");
  const std::string index = read_text("index.html");
  for (const char* part : {"href=\"demo.html\"", "href=\"demo.pdf\"", "everything a deck can do"})
    CHECK(index.find(part) != index.npos);
}

TEST_CASE("keys move from slide to slide, and the address follows") {
  const DemoCopy demo;
  build_deck("slides/demo.md", "demo.html");
  const std::string press = R"(<script>
    document.title = ["ArrowRight", " ", "PageDown", "ArrowLeft", "End", "ArrowDown", "Home", "x"]
      .map((key) => {
        dispatchEvent(new KeyboardEvent("keydown", {key}));
        return Math.round(scrollY / innerHeight) + location.hash;
      }).join(" ");
  </script></body>)";
  write_file("./keys.html", replaced_all(read_text("demo.html"), "</body>", press));
  const std::string dom = open_in_browser("keys.html", {"--window-size=1280,720", "--dump-dom"});
  CHECK(dom.find("<title>1#a-picture-that-graphviz-draws 2#two-columns 3#a-formula 2#two-columns "
                 "6#large 6#large 0#title 0#title</title>") != dom.npos);
}

TEST_CASE("what does not fit is found") {
  CHECK(findings_with("Fits.") == Findings{});
  CHECK(mentions(findings_with(repeated("- line\n", 20)), "px too high"));
  CHECK(
      mentions(findings_with("::: {style=\"width: 1300px\"}\nwide\n:::"), "px outside the slide"));
  CHECK(mentions(findings_with(fmt::format("```\n{:a>100}\n```", "")), "px wider than its place"));
  CHECK(mentions(findings_with("[small]{style=\"font-size: 17px\"}"), "is 17.0 px high, under 18"));
  CHECK(mentions(findings_with(repeated("word ", 76)), "has 77 words, over 75"));
}

TEST_CASE("words that leave their box in a picture are found") {
  const DemoCopy demo;
  const std::string box =
      "<svg viewBox=\"0 0 250 100\"><g class=\"node\"><rect x=\"9\" y=\"9\" width=\"WIDTH\" "
      "height=\"30\"/><text x=\"12\" y=\"30\">a long label</text></g></svg>\n";
  write_file("slides/pictures/life.svg", replaced_all(box, "WIDTH", "60"));
  build_deck("slides/demo.md", "demo.html");
  CHECK(mentions(findings_on("demo.html"), "text \"a long label\" is wider than its box"));
  write_file("slides/pictures/life.svg", replaced_all(box, "WIDTH", "200"));
  build_deck("slides/demo.md", "demo.html");
  CHECK(findings_on("demo.html") == Findings{});
}

TEST_CASE("whatever is loaded from outside is found") {
  CHECK(mentions(findings_with("[paper](https://example.org)"), "holds \"https:\""));
  CHECK(mentions(findings_with("<img alt=\"x\">"), "holds \"<img\""));
  CHECK(mentions(findings_with("<script src=\"x.js\"></script>"), "holds \" src=\""));
  CHECK(mentions(findings_with("[x]{style=\"background: url(x.png)\"}"), "holds \"url(\""));
}

TEST_CASE("a deck has six to ten slides") {
  CHECK(findings_with("## More\n\n## More\n\n## More\n\n## More") == Findings{});
  CHECK(mentions(findings_with("## More\n\n## More\n\n## More\n\n## More\n\n## More"),
                 "expected 6 to 10 slides, got 11"));
}

TEST_CASE("what pandoc or graphviz cannot read stops the build") {
  CHECK_THROWS_WITH(findings_with("$\\nonsense{$"),
                    "pandoc failed on work/one/deck.md: exit code 3");
  const DemoCopy demo;
  write_file("slides/pictures/step.dot", "digraph {");
  CHECK_THROWS_WITH(build_deck("slides/demo.md", "demo.html"),
                    "slides/demo.md:8: graphviz (dot) failed on work/demo/step.dot: exit code 1");
}
