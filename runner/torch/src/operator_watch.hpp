#pragma once

#include "torchwatch/models/torch.hpp"

namespace torchwatch::runner {

/// Registers a callback for each operator on every thread while it lives, also if the watched work
/// throws. LibTorch's callbacks are plain functions: they reach the count in progress through
/// `slot`, which is null again afterwards.
template <typename Count>
class OperatorWatch {
 public:
  OperatorWatch(Count*& slot, Count& count, at::RecordFunctionCallback callback) : slot_(slot) {
    slot_ = &count;
    handle_ = at::addGlobalCallback(callback.scopes({at::RecordScope::FUNCTION}));
  }
  OperatorWatch(const OperatorWatch&) = delete;
  OperatorWatch& operator=(const OperatorWatch&) = delete;
  ~OperatorWatch() {
    at::removeCallback(handle_);
    slot_ = nullptr;
  }

 private:
  Count*& slot_;
  at::CallbackHandle handle_ = at::INVALID_CALLBACK_HANDLE;
};

}  // namespace torchwatch::runner
