// The King James Bible, from Debian's package bible-kjv.
#pragma once

#include <string>

namespace shardlings {

// One verse per line, without its label; an empty line between chapters. About 4 MiB.
// Errors: Error(unavailable) with the line that installs the package, when its program `bible` is
// not there; Error(bad_data) when that prints something other than verses.
std::string king_james_bible();

}  // namespace shardlings
