#include "torchwatch/activity/shared_library.hpp"

#include <dlfcn.h>

namespace torchwatch::activity {
namespace {

constexpr int kFlags = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;

std::string loader_error() {
  const char* text = dlerror();
  return text == nullptr ? "no reason given" : text;
}

}  // namespace

Result<SharedLibrary> SharedLibrary::open(const std::vector<std::string>& names) {
  for (const auto& name : names) {
    if (void* handle = dlopen(name.c_str(), kFlags | RTLD_NOLOAD)) {
      return SharedLibrary(handle, name);
    }
  }
  std::string reasons;
  for (const auto& name : names) {
    if (void* handle = dlopen(name.c_str(), kFlags)) return SharedLibrary(handle, name);
    reasons += (reasons.empty() ? "" : "; ") + loader_error();
  }
  return fail(ErrorCode::unavailable, "cannot load " + names.front() + " (" + reasons + ")");
}

void* SharedLibrary::address_of(const char* symbol) const {
  return dlsym(handle_, symbol);
}

}  // namespace torchwatch::activity
