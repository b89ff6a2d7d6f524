// Code on a slide is cut out of the sources, never pasted. A source marks what may be shown:
//
//   // [slide NAME]
//   ...
//   // [end slide]
//
// with # instead of // where that begins a comment. Regions do not overlap.
#pragma once

#include <string>
#include <string_view>

namespace shardlings {

// The lines of region `name`, without the indentation that all of them share.
// Errors: Error(bad_data): there is no such region (and which there are), it does not end, or it
// holds nothing.
std::string region_of(std::string_view source, std::string_view name);

}  // namespace shardlings
