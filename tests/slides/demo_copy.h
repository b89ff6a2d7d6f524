// A copy of demo/, in which the test then stands: the tool's idea of a repository.
#pragma once

#include <filesystem>

#include "tests/driver/shell.h"

namespace shardlings {

class DemoCopy {
 public:
  DemoCopy() {
    copy(std::filesystem::path(DEMO_FOLDER), folder_.path(),
         std::filesystem::copy_options::recursive);
    current_path(folder_.path());
  }
  ~DemoCopy() { std::filesystem::current_path("/"); }

 private:
  TemporaryFolder folder_;
};

}  // namespace shardlings
