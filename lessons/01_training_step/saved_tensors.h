// What a forward pass leaves for its backward pass: a stack, last in, first out.
//
// This stack is the "activations" column of the memory table. A tensor's storage counts as
// activations exactly while some stack holds it (once, whole, however many views of it are held),
// and as what it was before otherwise. Several stacks may live at once: one per micro-batch in
// flight, one for a recomputed block.
#pragma once

#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace shardlings::lesson01 {

class SavedTensors {
 public:
  SavedTensors() = default;
  // For a forward pass that no backward follows: keeps nothing.
  static SavedTensors none() {
    SavedTensors saved;
    saved.keeps_ = false;
    return saved;
  }

  ~SavedTensors() {
    while (!is_empty()) pop();
  }
  SavedTensors(SavedTensors&& other) noexcept
      : stack_(std::exchange(other.stack_, {})), keeps_(other.keeps_) {}
  SavedTensors& operator=(SavedTensors&&) = delete;

  void push(const Tensor& tensor) {
    if (!keeps_) return;
    tensor.storage()->hold_for_backward();
    stack_.push_back(tensor);
  }

  // Backward takes in the opposite order of forward's pushes.
  Tensor pop() {
    CHECK(!stack_.empty(), "backward takes more tensors than forward saved");
    Tensor tensor = std::move(stack_.back());
    stack_.pop_back();
    tensor.storage()->drop();
    return tensor;
  }

  // Whether a backward pass may follow.
  bool keeps() const { return keeps_; }
  bool is_empty() const { return stack_.empty(); }

 private:
  std::vector<Tensor> stack_;
  bool keeps_ = true;
};

}  // namespace shardlings::lesson01
