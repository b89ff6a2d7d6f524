// From Markdown to the files that are shown. All paths but outputs start at the repository's root,
// which is the current folder.
#pragma once

#include <filesystem>
#include <vector>

namespace shardlings {

// Makes one HTML file that needs no other, with pandoc and graphviz, and OUTPUT.d beside it, the
// files it depends on in the format of make. What is made on the way stays in work/NAME/.
// Errors: those of expand_deck; Error(bad_data) when pandoc refuses the deck.
void build_deck(const std::filesystem::path& deck, const std::filesystem::path& output);

// Makes the page that lists `decks` and links to NAME.html and, where there is one, NAME.pdf.
void build_index(const std::vector<std::filesystem::path>& decks,
                 const std::filesystem::path& output);

// One slide per page. Errors: Error(unavailable) without Chromium.
void print_deck(const std::filesystem::path& html, const std::filesystem::path& pdf);

}  // namespace shardlings
