#include "tools/slides/markdown.h"

#include "tests/slides/demo_copy.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

const std::string kHead = "---\ntitle: One\n---\n\n";

// The deck "slides/one.md", made into what pandoc reads.
std::string expanded(const std::string& deck) {
  const DemoCopy demo;
  write_file("slides/one.md", deck);
  Sources sources;
  return expand_deck("slides/one.md", ".", sources);
}

// A deck of one slide that begins in line 5.
std::string expanded_slide(const std::string& slide) {
  return expanded(kHead + "## Slide\n" + slide).substr(kHead.size() + 9);
}

}  // namespace

TEST_CASE("Markdown stays as it is, but for numbers") {
  CHECK(expanded_slide("- a *b* $x_{BTD}$\n") == "- a *b* $x_{BTD}$\n");
  CHECK(expanded_slide("{{golden demo model.P as count}}\n") == "842,496\n");
  CHECK(expanded_slide("```\n# {{golden demo dtype}}\n```\n") == "```\n# f32\n```\n");
}

TEST_CASE("code is put into its block, with the length of its longest line") {
  CHECK(expanded_slide("```{.cpp region=\"lessons/step.cpp#other\"}\n```\n") ==
        "```{.cpp style=\"--columns: 21\"}\nint other = 1;  // ∂x\n```\n");
}

TEST_CASE("code that is pasted, or not there, is refused") {
  CHECK_THROWS_WITH(expanded_slide("\n```cpp\nint x;\n```\n"),
                    "slides/one.md:7: C++ on a slide is taken from a source: add "
                    "region=\"FILE#NAME\"");
  CHECK_THROWS_WITH(expanded_slide("```{.cpp region=\"lessons/step.cpp#stop\"}\n```\n"),
                    "slides/one.md:6: lessons/step.cpp: there is no line \"// [slide stop]\"; "
                    "regions there: step, empty, other, endless");
  CHECK_THROWS_WITH(expanded_slide("```{.cpp region=\"lessons/none.cpp#step\"}\n```\n"),
                    "slides/one.md:6: lessons/none.cpp cannot be read");
  CHECK_THROWS_WITH(expanded_slide("```{.cpp region=\"lessons/step.cpp#step\"}\nint x;\n```\n"),
                    "slides/one.md:7: a block with a region is empty, got \"int x;\"");
}

TEST_CASE("a picture becomes part of the page") {
  const std::string html = expanded_slide("![A mountain](pictures/life.svg)\n");
  CHECK(
      html.starts_with("\n```{=html}\n<figure><svg viewBox=\"0 0 400 150\" "
                       "style=\"width: 25.71rem\" role=\"img\" aria-label=\"A mountain\">"));
  CHECK(html.find("<g class=\"activations\">") != html.npos);
  for (const char* dropped : {"<?xml", "<!--", "xmlns", "http:"})
    CHECK(html.find(dropped) == html.npos);
}

TEST_CASE("pictures that cannot be shown are refused") {
  const std::string form =
      "slides/one.md:6: expected ![what it shows](picture.svg or .dot) on a line of its own, got ";
  for (const std::string line : {"![](a.svg)", "see ![x](a.svg)", "![x](a.png)", "![x](a b.svg)"})
    CHECK_THROWS_WITH(expanded_slide(line + '\n'), form + '"' + line + '"');
  CHECK_THROWS_WITH(expanded_slide("![x](pictures/none.svg)\n"),
                    "slides/one.md:6: slides/pictures/none.svg cannot be read");
}

TEST_CASE("a number in a picture is told with both places") {
  const DemoCopy demo;
  write_file("slides/one.md", kHead + "## Slide\n![x](bad.svg)\n");
  write_file("slides/bad.svg", "<svg viewBox=\"0 0 1 1\">\n{{golden demo x as count}}\n</svg>\n");
  Sources sources;
  CHECK_THROWS_WITH(expand_deck("slides/one.md", ".", sources),
                    "slides/one.md:6: slides/bad.svg:2: tests/golden/demo.json: x: there is no x "
                    "but counts, dtype, entropy_floor, memory, model, schema, trade, traffic");
}

TEST_CASE("every word stands on a slide") {
  CHECK_THROWS_WITH(expanded("# One\n"),
                    "slides/one.md:1: expected the line \"---\", and then \"title: ...\"");
  CHECK_THROWS_WITH(expanded(kHead + "lost\n"),
                    "slides/one.md:5: expected \"## Title\", the first slide, got \"lost\"");
  CHECK_THROWS_WITH(expanded_slide("# Large\n"),
                    "slides/one.md:6: a slide begins with \"## Title\", got \"# Large\"");
  for (const std::string& endless : {kHead, kHead + "## Slide\n```\n", std::string("---\n")})
    CHECK_THROWS_WITH(expanded(endless), "slides/one.md ends before its first slide or in a block");
}

TEST_CASE("what a deck is made from is remembered") {
  const DemoCopy demo;
  write_file("slides/one.md", kHead +
                                  "## Slide\n![x](pictures/life.svg)\n"
                                  "```{.cpp region=\"lessons/step.cpp#step\"}\n```\n"
                                  "{{golden demo dtype}}\n");
  Sources sources;
  expand_deck("slides/one.md", ".", sources);
  CHECK(sources.all_read() ==
        std::set<std::filesystem::path>{"slides/one.md", "slides/pictures/life.svg",
                                        "lessons/step.cpp", "tests/golden/demo.json"});
}

TEST_CASE("the front matter is read for the index") {
  const std::string deck = "---\ntitle: \"A · b\"\nsubtitle: c: d\n---\n";
  CHECK(front_matter(deck, "title") == "A · b");
  CHECK(front_matter(deck, "subtitle") == "c: d");
  CHECK(front_matter(deck, "author") == "");
}
