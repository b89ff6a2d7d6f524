#include "base/check.h"
#include "configured.h"
#include "tools/driver/build.h"
#include "tools/driver/command.h"

namespace shardlings {

int make_text(Arguments arguments) {
  build_target("text", "text");
  CommandLine command{fmt::format("{}/bin/text", kBuildFolder)};
  command.insert(command.end(), arguments.begin(), arguments.end());
  become(command);
}

}  // namespace shardlings
