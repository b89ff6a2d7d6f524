// What every CPU kernel is given: its threads and the way from a device address to memory.
#pragma once

#include <cstddef>

#include "device/operations.h"

namespace shardlings {

struct Cpu {
  int threads = 1;
  // Added to device addresses: 0, except on the guarded device.
  std::ptrdiff_t address_offset = 0;

  template <class T>
  T* at(void* address) const {
    if (address == nullptr) return nullptr;
    return reinterpret_cast<T*>(static_cast<std::byte*>(address) + address_offset);
  }
  template <class T>
  const T* at(const void* address) const {
    return at<T>(const_cast<void*>(address));
  }
};

// Carries out one operation now.
void run_on_cpu(const Operation& operation, const Cpu& cpu);

// The three that have a file of their own.
void run(const Matmul& op, const Cpu& cpu);
void run(const AttentionForward& op, const Cpu& cpu);
void run(const AttentionBackward& op, const Cpu& cpu);

}  // namespace shardlings
