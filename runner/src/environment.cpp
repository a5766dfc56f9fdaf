#include "torchwatch/runner/environment.hpp"

#include <gnu/libc-version.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <sstream>

#include "facts.hpp"
#include "torchwatch/protocol/machine_facts.hpp"
#include "torchwatch/records/stated_variables.hpp"
#include "torchwatch/runner/temperature.hpp"
#include "torchwatch/torch/libtorch.hpp"

namespace torchwatch::runner {
namespace {

using namespace std::chrono_literals;

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// Whether the processor says that a hypervisor is below; false where it says nothing of it.
bool is_virtual() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("flags")) return line.find(" hypervisor") != std::string::npos;
  }
  return false;
}

/// Adds the environment variables that change what is measured, if they are set.
void add_settings(std::map<std::string, std::string>& facts) {
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const auto equals = text.find('=');
    const auto name = text.substr(0, equals);
    if (!is_stated(name)) continue;
    facts["env." + std::string(name)] = text.substr(equals + 1);
  }
}

std::int64_t nanoseconds(const timeval& time) {
  return time.tv_sec * 1'000'000'000LL + time.tv_usec * 1'000LL;
}

/// The eighth number of the first line of /proc/stat: time that the host gave to others.
std::int64_t steal_ticks() {
  std::istringstream line(first_line("/proc/stat"));
  std::string label;
  line >> label;
  std::int64_t ticks = 0;
  for (int i = 0; i < 8; ++i) line >> ticks;
  return line ? ticks : 0;
}

}  // namespace

std::map<std::string, std::string> environment_facts(bool with_gpu) {
  auto facts = libtorch_facts();
  facts.merge(protocol::machine_facts());
  facts["glibc"] = gnu_get_libc_version();
  const auto huge_pages = first_line("/sys/kernel/mm/transparent_hugepage/enabled");
  if (!huge_pages.empty()) facts["huge_pages"] = huge_pages;
  const auto governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (!governor.empty()) facts["cpu_governor"] = governor;
  add_settings(facts);
  facts.merge(library_facts());
  if (with_gpu) facts.merge(gpu_facts());
  return facts;
}

KernelCounters read_kernel_counters() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {.minor_faults = usage.ru_minflt,
          .major_faults = usage.ru_majflt,
          .involuntary_switches = usage.ru_nivcsw,
          .voluntary_switches = usage.ru_nvcsw,
          .cpu_ns = nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime),
          .wall_ns = std::chrono::steady_clock::now().time_since_epoch() / 1ns,
          .steal_ticks = steal_ticks()};
}

std::map<std::string, std::int64_t> volatile_facts(const KernelCounters& before,
                                                   const KernelCounters& after) {
  double load = 0;
  std::ifstream("/proc/loadavg") >> load;
  std::map<std::string, std::int64_t> facts{
      {"minor_faults", after.minor_faults - before.minor_faults},
      {"major_faults", after.major_faults - before.major_faults},
      {"involuntary_switches", after.involuntary_switches - before.involuntary_switches},
      {"voluntary_switches", after.voluntary_switches - before.voluntary_switches},
      {"cpu_ns", after.cpu_ns - before.cpu_ns},
      {"wall_ns", after.wall_ns - before.wall_ns},
      {"steal_ticks", after.steal_ticks - before.steal_ticks},
      {"load1_milli", std::llround(load * 1000)},
      {"is_virtual", is_virtual() ? 1 : 0}};
  if (const auto milli = processor_temperature()) facts["temperature_milli"] = *milli;
  return facts;
}

}  // namespace torchwatch::runner
