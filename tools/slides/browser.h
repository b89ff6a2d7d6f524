// Chromium without a window: it prints decks, lays them out for checks, and draws them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace shardlings {

// What the browser prints when it opens the file at `page`; `options` say what that is to be. ""
// when it fails. Errors: Error(unavailable) when there is no Chromium.
std::string open_in_browser(const std::filesystem::path& page,
                            const std::vector<std::string>& options);

// The same for an option that makes a file: "--print-to-pdf=", "--screenshot=".
// Errors: Error(unavailable) when it is not made.
void make_in_browser(const std::filesystem::path& file, const std::string& option,
                     const std::filesystem::path& page, std::vector<std::string> options);

}  // namespace shardlings
