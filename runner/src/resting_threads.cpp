#include "resting_threads.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>

namespace torchwatch::runner {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::microseconds kBetweenLooks{100};

/// A thread that has ended meanwhile has no state, and rests.
bool is_running(const fs::path& thread) {
  std::ifstream file(thread / "stat");
  std::string line;
  std::getline(file, line);
  const auto name_end = line.rfind(") ");  // the name may hold brackets itself
  return name_end != std::string::npos && line.compare(name_end + 2, 1, "R") == 0;
}

bool others_rest() {
  const auto own = std::to_string(gettid());
  std::error_code error;
  for (fs::directory_iterator thread("/proc/self/task", error), end; !error && thread != end;
       thread.increment(error)) {
    if (thread->path().filename() != own && is_running(thread->path())) return false;
  }
  return !error;
}

}  // namespace

bool wait_until_others_rest(std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!others_rest()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return true;
}

}  // namespace torchwatch::runner
