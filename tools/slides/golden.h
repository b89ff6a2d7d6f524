// Numbers on a slide come from golden reports, tests/golden/NAME.json (schema 1: course/report.h).
//
//   {{golden [NAME] PATH [of PATH] [as FORMAT]}}
//
// NAME     the report, by default the deck's own name.
// PATH     members joined by dots; a number indexes a list and [..] finds a row by its name:
//          memory.0.0.rows[activations].peak_bytes
//          A row of traffic is named by axis, operation and what: [dp all_reduce gradients].
// of       divides by a second value of the same report.
// FORMAT   bytes "48.0 MiB" · count "1,234,567" · number "3.14", three digits · percent "73%" of a
//          share. Without one the value must be a text, which is shown as it is.
#pragma once

#include <string>
#include <string_view>

#include "tools/slides/sources.h"

namespace shardlings {

// `line` with the value in the place of every {{golden ...}}.
// Errors: Error(bad_data) that quotes the path and tells how far it leads and what is there.
std::string with_golden_numbers(std::string_view line, std::string_view own_report,
                                Sources& sources);

}  // namespace shardlings
