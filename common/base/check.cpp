#include "base/check.h"

namespace shardlings {

void check_failed(const char* where, const char* condition, const std::string& message) {
  throw Error(ExitCode::broken,
              fmt::format("{} ({} does not hold, {})", message, condition, where));
}

}  // namespace shardlings
