// libFuzzer target: no file, however it is put together, makes the reader misbehave.

#include <algorithm>

#include "tests/common/storage/hand_made.h"
#include "tests/common/storage/hostile.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const shardlings::MemoryFile file;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with('{')) {  // a header and, after a line break, data: the length comes from us
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    bytes = shardlings::file_of(bytes.substr(0, end), bytes.substr(std::min(end + 1, size)));
  }
  file.set(bytes);
  shardlings::verdict_on(file.path());
  return 0;
}
