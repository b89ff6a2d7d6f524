// A deck as it is written (slides/NN_slug.md), made into what pandoc reads.
//
//   ## Title                     begins a slide
//   {{golden PATH as bytes}}     a number from a golden report: golden.h
//   ![what](file.dot)            a picture, on a line of its own: picture.h
//   ```{.cpp region="FILE#NAME"} code from a source, in the place of an empty block: region.h
//   ```
//
// Everything else is pandoc's Markdown. Code is shown from the sources only: a C++ block without a
// region is refused.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tools/slides/sources.h"

namespace shardlings {

// `work` is a folder for what is made on the way.
// Errors: Error(bad_data or no_input) that begins with FILE:LINE of the deck.
std::string expand_deck(const std::filesystem::path& deck, const std::filesystem::path& work,
                        Sources& sources);

// The value of `key: value` in the deck's first block, without quotes; "" when it is not there.
std::string front_matter(std::string_view deck, std::string_view key);

}  // namespace shardlings
