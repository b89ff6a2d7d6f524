// A picture on a slide: a .svg file, or a .dot file that graphviz draws. It becomes part of the
// page, so that the deck's fonts and colours apply to it: class="activations" on a node or a group
// paints it like every other mention of activations. A font size of 14, graphviz's default, is that
// of the slide's text; a picture wider than its place is scaled down. Golden numbers may stand in
// both kinds.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tools/slides/sources.h"

namespace shardlings {

struct Picture {
  std::string shows;           // in words, for those who cannot see it
  std::filesystem::path file;  // seen from the deck's folder
};

// Reads a Markdown line that is a picture: ![what it shows](file).
// Errors: Error(bad_data) when it is anything else.
Picture parse_picture(std::string_view line);

// The picture as HTML. `work` is a folder for what goes to graphviz and comes back.
std::string picture_html(const Picture& picture, const std::filesystem::path& deck,
                         const std::filesystem::path& work, Sources& sources);

}  // namespace shardlings
