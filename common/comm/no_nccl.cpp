// A build without NCCL.
#include "comm/device_collectives.h"

namespace shardlings {

std::string why_no_nccl() {
  return "this program was built without NCCL";
}

std::unique_ptr<DeviceCollectives> make_nccl(Device&, int, int, const ShareId&) {
  fail(ExitCode::unavailable, "NCCL: {}", why_no_nccl());
}

}  // namespace shardlings
