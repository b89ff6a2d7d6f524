#include "comm/fault.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <thread>
#include <vector>

#include "base/units.h"
#include "tensor/ops.h"

namespace shardlings {

namespace {

std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = text.find(':');
    parts.push_back(text.substr(0, end));
    if (end != std::string_view::npos) text.remove_prefix(end + 1);
  }
  return parts;
}

}  // namespace

bool pass_fault(std::int64_t rank, std::int64_t number, const Tensor& x) {
  const char* variable = std::getenv("SHARDLINGS_FAULT");
  if (variable == nullptr) return true;
  const std::vector<std::string_view> parts = parts_of(variable);
  if (parts.size() < 3)
    fail(ExitCode::usage, "SHARDLINGS_FAULT: expected KIND:RANK:OPERATION, got {:?}",
         std::string_view(variable));
  if (parse_integer(parts[1], "SHARDLINGS_FAULT") != rank ||
      parse_integer(parts[2], "SHARDLINGS_FAULT") != number)
    return true;
  const std::string_view kind = parts[0];
  using std::this_thread::sleep_for;
  if (kind == "crash") std::raise(SIGKILL);
  if (kind == "stall") sleep_for(std::chrono::hours(24));
  if (kind == "delay")
    sleep_for(std::chrono::milliseconds(parse_integer(parts.at(3), "SHARDLINGS_FAULT")));
  if (kind == "nan" && !x.is_empty()) fill(x, std::numeric_limits<double>::quiet_NaN());
  return kind != "skip";
}

bool poisons() {
  const char* variable = std::getenv("SHARDLINGS_POISON");
  return variable != nullptr && std::string_view(variable) == "1";
}

}  // namespace shardlings
