#include "torchwatch/protocol/machine_facts.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <string_view>

namespace torchwatch::protocol {
namespace {

constexpr const char* kUnknown = "unknown";

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return kUnknown;
}

std::string kernel() {
  utsname names{};
  if (uname(&names) != 0) return kUnknown;
  return std::string(names.sysname) + " " + names.release + " " + names.machine;
}

}  // namespace

std::string memory_fact(std::int64_t kernel_bytes) {
  if (kernel_bytes <= 0) return kUnknown;
  constexpr std::uint64_t kMiB = 1U << 20U;
  constexpr std::uint64_t kPerGiB = 1024;
  const auto mebibytes = (static_cast<std::uint64_t>(kernel_bytes) + kMiB - 1) / kMiB;
  const auto eighth = std::max<std::uint64_t>(1, std::bit_floor(mebibytes) / 8);
  const auto rounded = (mebibytes + eighth - 1) / eighth * eighth;
  if (rounded % kPerGiB == 0) return std::to_string(rounded / kPerGiB) + " GiB";
  return std::to_string(rounded) + " MiB";
}

std::map<std::string, std::string> machine_facts() {
  const auto bytes = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  return {{"cpu_model", cpu_model()},
          {"cpus", std::to_string(sysconf(_SC_NPROCESSORS_ONLN))},
          {"kernel", kernel()},
          {"memory", memory_fact(bytes)}};
}

}  // namespace torchwatch::protocol
