// The rules of the house that includes can break. Sources are read line by line: no preprocessor.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace shardlings {

// Each layer of common/, with everything below it that it may include.
using Layers = std::map<std::string, std::set<std::string>>;

// Lines "device base ledger": a layer and the neighbours that its CMakeLists.txt names; what is
// below a neighbour is allowed too. Requires: a neighbour has a line of its own further up, so
// there are no cycles.
Layers layers_of(const std::string& lines);

// One message "file:line: what" for each place in common/, lessons/, solutions/ and exercises/
// under `root` where
//   a layer includes something that is not below it,
//   a lesson includes a later one, or something that is neither a lesson nor common,
//   an include does not give the full path from common/ or from the root,
//   a heavy library is included in a header, outside its layer, or in more than two files,
//   code is compiled conditionally outside device/ and comm/.
// Errors: Error when there is no source at all.
std::vector<std::string> broken_rules(const std::filesystem::path& root, const Layers& layers);

}  // namespace shardlings
