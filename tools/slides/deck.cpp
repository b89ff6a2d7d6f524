#include "tools/slides/deck.h"

#include "base/atomic_file.h"
#include "tools/driver/process.h"
#include "tools/slides/browser.h"
#include "tools/slides/markdown.h"

namespace shardlings {

namespace fs = std::filesystem;

namespace {

// Markdown into HTML. Warnings count as errors: a formula that pandoc cannot set, for instance.
std::string html_from(const std::string& markdown, const fs::path& work,
                      const std::string& page_template) {
  const fs::path input = work / "deck.md", output = work / "deck.html";
  write_file_atomically(input, markdown);
  const int status = run({"pandoc", "--from=markdown", "--to=html5", "--mathml", "--section-divs",
                          "--columns=1000", "--wrap=preserve", "--fail-if-warnings",
                          "--template=" + page_template, "--output=" + output.string(), input});
  if (status != 0)
    fail(ExitCode::bad_data, "pandoc failed on {}: exit code {}", input.string(), status);
  // Inside a page of HTML nobody needs the namespace, and no address is left in the deck.
  return replaced_all(read_text(output), " xmlns=\"http://www.w3.org/1998/Math/MathML\"", "");
}

fs::path work_folder(const fs::path& output) {
  const fs::path folder = output.parent_path() / "work" / output.stem();
  fs::create_directories(folder);
  return folder;
}

void write_dependencies(const fs::path& output, const Sources& sources) {
  std::string text = output.string() + ":";
  for (const fs::path& file : sources.all_read())
    text += fmt::format(" {}", replaced_all(absolute(file).string(), " ", "\\ "));
  write_file_atomically(output.string() + ".d", text + "\n");
}

}  // namespace

void build_deck(const fs::path& deck, const fs::path& output) {
  Sources sources;
  const fs::path work = work_folder(output);
  const std::string markdown = expand_deck(deck, work, sources);
  write_file_atomically(output, html_from(markdown, work, TEMPLATE_FOLDER "/deck.html"));
  write_dependencies(output, sources);
}

void build_index(const std::vector<fs::path>& decks, const fs::path& output) {
  std::string markdown = "---\ntitle: \"Shardlings: the slides\"\n---\n\n";
  for (const fs::path& deck : decks) {
    const std::string text = read_text(deck), name = deck.stem().string();
    markdown += fmt::format("- [{}]({}.html): {}", front_matter(text, "title"), name,
                            front_matter(text, "subtitle"));
    if (exists(output.parent_path() / (name + ".pdf")))
      markdown += fmt::format(" ([PDF]({}.pdf))", name);
    markdown += '\n';
  }
  write_file_atomically(output,
                        html_from(markdown, work_folder(output), TEMPLATE_FOLDER "/index.html"));
}

void print_deck(const fs::path& html, const fs::path& pdf) {
  make_in_browser(pdf, "--print-to-pdf=", html, {"--no-pdf-header-footer"});
}

}  // namespace shardlings
