#include "tools/text/kjv.h"

#include <string_view>

#include "base/check.h"
#include "tools/driver/process.h"

namespace shardlings {

std::string king_james_bible() {
  std::string text;
  std::string chapter;
  // A line of `bible` reads "Psa23:1 The LORD is my shepherd; I shall not want."
  const auto add_verse = [&](std::string_view line) {
    const std::size_t colon = line.find(':');
    const std::size_t space = line.find(' ');
    if (colon == 0 || space == std::string_view::npos || colon > space)
      fail(ExitCode::bad_data, "expected a verse from the program bible, got \"{}\"", line);
    const std::string_view its_chapter = line.substr(0, colon);
    if (its_chapter != chapter && !text.empty()) text += '\n';
    chapter = its_chapter;
    text += line.substr(space + 1);
    text += '\n';
  };
  // -f: a label and a verse on every line.
  const int status = run_by_line({"bible", "-f", "gen1:1-rev22:21"}, add_verse);
  if (status == 127)
    fail(ExitCode::unavailable, "the program bible is not there; sudo apt-get install bible-kjv");
  if (status != 0 || text.empty())
    fail(ExitCode::bad_data, "the program bible gave {} bytes and exit status {}", text.size(),
         status);
  return text;
}

}  // namespace shardlings
