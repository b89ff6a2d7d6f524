#include "base/check.h"
#include "configured.h"
#include "tools/driver/build.h"
#include "tools/driver/command.h"

namespace shardlings {

int make_slides(Arguments) {
  build_target("slides", "slides");
  fmt::print("{}/slides/index.html\n", kBuildFolder);
  return 0;
}

}  // namespace shardlings
