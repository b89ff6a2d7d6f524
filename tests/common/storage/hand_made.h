// Safetensors files put together byte by byte, independently of the code under test.
#pragma once

#include <cstdint>
#include <string>

namespace shardlings {

inline std::string with_length(std::uint64_t length, const std::string& header) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(length >> (8 * i) & 0xff);
  return bytes + header;
}

inline std::string file_of(const std::string& header, const std::string& data) {
  return with_length(header.size(), header) + data;
}

}  // namespace shardlings
