// What stands in an exercise where the learner's code goes.
#pragma once

#include <string>

#include "base/check.h"

namespace shardlings {

// "not written yet: 10.1": the driver and the tests recognise it by its type.
class NotWritten : public Error {
 public:
  explicit NotWritten(const std::string& id)
      : Error(ExitCode::check_failed, "not written yet: " + id) {}
};

[[noreturn]] inline void todo(const char* id) {
  throw NotWritten(id);
}

}  // namespace shardlings
