#include "device/device.h"

#include "base/units.h"

namespace shardlings {

Storage::Storage(Device& device, void* data, std::int64_t bytes, Category category,
                 std::string_view owner)
    : device_(device),
      data_(data),
      bytes_(bytes),
      category_(category),
      entry_(device.memory().add(bytes, category, owner)) {}

Storage::~Storage() {
  device_.memory().remove(entry_);
  device_.release(data_, bytes_);
}

bool Storage::is_retagged() const {
  return category_ == Category::workspace || category_ == Category::communication;
}

void Storage::hold_for_backward() {
  if (holders_++ == 0 && is_retagged()) device_.memory().retag(entry_, Category::activations);
}

void Storage::drop() {
  CHECK(holders_ > 0, "a storage was dropped more often than held");
  if (--holders_ == 0 && is_retagged()) device_.memory().retag(entry_, category_);
}

std::shared_ptr<Storage> Device::allocate(std::int64_t bytes, Category category,
                                          std::string_view owner) {
  void* data = acquire(bytes);
  if (data == nullptr)
    fail(ExitCode::out_of_memory, "{}: the machine has no {} left; {} are in use", owner,
         format_bytes(bytes), format_bytes(memory_.now().total()));
  try {
    return std::make_shared<Storage>(*this, data, bytes, category, owner);
  } catch (...) {
    release(data, bytes);
    throw;
  }
}

}  // namespace shardlings
