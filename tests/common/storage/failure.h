// What an action says when it fails.
#pragma once

#include <string>

#include "base/check.h"

namespace shardlings {

// "74: cannot write ...": the exit code and the message; "" when nothing is thrown.
std::string failure(const auto& action) {
  try {
    action();
    return "";
  } catch (const Error& error) {
    return fmt::format("{}: {}", static_cast<int>(error.code()), error.what());
  }
}

}  // namespace shardlings
