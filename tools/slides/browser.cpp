#include "tools/slides/browser.h"

#include <unistd.h>

#include "base/check.h"
#include "tools/driver/process.h"

namespace shardlings {

namespace {

std::string installed_browser() {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"})
    if (!output_of({name, "--version"}).empty()) return name;
  fail(ExitCode::unavailable, "there is no Chromium; apt install chromium");
}

}  // namespace

std::string open_in_browser(const std::filesystem::path& page,
                            const std::vector<std::string>& options) {
  CommandLine command{installed_browser(), "--headless", "--hide-scrollbars", "--timeout=20000"};
  // Chromium refuses its sandbox to root, who has no need of it here: the page is our own.
  if (geteuid() == 0) command.push_back("--no-sandbox");
  command.insert(command.end(), options.begin(), options.end());
  command.push_back("file://" + absolute(page).string());
  return output_of(command);
}

void make_in_browser(const std::filesystem::path& file, const std::string& option,
                     const std::filesystem::path& page, std::vector<std::string> options) {
  std::filesystem::remove(file);
  options.push_back(option + file.string());
  open_in_browser(page, options);
  if (!exists(file)) fail(ExitCode::unavailable, "Chromium did not make {}", file.string());
}

}  // namespace shardlings
