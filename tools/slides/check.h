// Checks on a finished deck, and a picture of it for the eye.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace shardlings {

// What is wrong with the deck, one sentence each: a length other than 6 to 10 slides, anything
// that is loaded from outside and, as laid out by Chromium at 1280 x 720, things that do not fit on
// their slide, type too small to be read from the back row, and slides of too many words.
// Errors: Error(unavailable) without Chromium.
std::vector<std::string> findings_on(const std::filesystem::path& html);

// All slides, one below the other, 1280 x 720 each. Errors: Error(unavailable) without Chromium.
void draw_deck(const std::filesystem::path& html, const std::filesystem::path& png);

}  // namespace shardlings
