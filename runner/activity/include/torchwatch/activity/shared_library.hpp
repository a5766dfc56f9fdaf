#pragma once

#include <string>
#include <vector>

#include "torchwatch/records/error.hpp"

namespace torchwatch::activity {

/// A library opened by name: nothing links it, and a machine without it gets an error that says so.
/// It stays loaded until the process ends, as a driver's library has threads of its own.
class SharedLibrary {
 public:
  /// Opens the first of `names` that is loaded already (two versions of one library in a process
  /// would not know of each other), else the first that can be loaded. Errors: unavailable, with
  /// the loader's reason for each name.
  static Result<SharedLibrary> open(const std::vector<std::string>& names);

  /// Returns null if the library has no such function.
  template <typename Function>
  Function* find(const char* function) const {
    return reinterpret_cast<Function*>(address_of(function));
  }

  const std::string& name() const { return name_; }

 private:
  SharedLibrary(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}
  void* address_of(const char* symbol) const;

  void* handle_;
  std::string name_;
};

}  // namespace torchwatch::activity
