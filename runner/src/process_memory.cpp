#include "torchwatch/runner/process_memory.hpp"

#include <fstream>
#include <sstream>
#include <string>

namespace torchwatch::runner {
namespace {

std::optional<std::int64_t> status_bytes(std::string_view label) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(label)) continue;
    std::int64_t kibibytes = 0;
    std::istringstream(line.substr(label.size())) >> kibibytes;
    return kibibytes * 1024;
  }
  return {};
}

}  // namespace

std::optional<std::int64_t> resident_bytes() {
  return status_bytes("VmRSS:");
}
std::optional<std::int64_t> resident_file_bytes() {
  return status_bytes("RssFile:");
}
std::optional<std::int64_t> resident_peak_bytes() {
  return status_bytes("VmHWM:");
}

bool reset_resident_peak() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return static_cast<bool>(file);
}

}  // namespace torchwatch::runner
