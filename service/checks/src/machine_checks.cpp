#include <array>
#include <fstream>
#include <numeric>
#include <sstream>

#include "torchwatch/checks/checks.hpp"
#include "torchwatch/figures/figures.hpp"

namespace torchwatch::checks {
namespace {

namespace fs = std::filesystem;

/// Returns an empty text if there is no such file.
std::string first_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

CheckResult judged(bool is_good, std::string what, std::string found, std::string remedy) {
  return {.severity = is_good ? Severity::good : Severity::warning,
          .what = std::move(what),
          .found = std::move(found),
          .remedy = is_good ? "" : std::move(remedy)};
}

CheckResult not_shown(std::string what) {
  return {.severity = Severity::unknown,
          .what = std::move(what),
          .found = "unknown: the kernel does not show it",
          .remedy = ""};
}

CheckResult check_cores(const fs::path& root) {
  std::ifstream stream(root / "proc/cpuinfo");
  int cores = 0;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("processor")) ++cores;
  }
  return judged(cores >= 2, "processor", std::to_string(cores) + " cores",
                "give the machine two cores: one to measure on, one for everything else");
}

CheckResult check_load(const fs::path& root) {
  const auto line = first_line(root / "proc/loadavg");
  double load = 0;
  std::istringstream(line) >> load;
  return judged(load < 0.5, "foreign load",
                "load " + line.substr(0, line.find(' ')) + " over the last minute",
                "end or move the other programs on this machine");
}

/// The eighth figure of the first line of /proc/stat is what other guests took (proc(5)).
CheckResult check_steal(const fs::path& root) {
  constexpr std::size_t kSteal = 7;
  constexpr double kMost = 0.01;
  std::istringstream line(first_line(root / "proc/stat"));
  std::string label;
  line >> label;
  std::array<double, kSteal + 1> ticks{};
  for (double& each : ticks) line >> each;
  const double all = std::accumulate(ticks.begin(), ticks.end(), 0.0);
  const double share = all > 0 ? ticks[kSteal] / all : 0;
  return judged(share < kMost, "time taken by other guests",
                figures::share(share) + " of the time since the start",
                "measure on a host of your own, or on one that is not overbooked");
}

CheckResult check_governor(const fs::path& root) {
  const auto governor = first_line(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (governor.empty()) return not_shown("clock governor");
  return judged(governor == "performance", "clock governor", governor,
                "cpupower frequency-set --governor performance");
}

/// Asks the two drivers that may be there; one has a switch for "off", the other one for "on".
CheckResult check_turbo(const fs::path& root) {
  const auto no_turbo = first_line(root / "sys/devices/system/cpu/intel_pstate/no_turbo");
  if (!no_turbo.empty()) {
    return judged(no_turbo == "1", "turbo", no_turbo == "1" ? "off" : "on",
                  "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo");
  }
  const auto boost = first_line(root / "sys/devices/system/cpu/cpufreq/boost");
  if (boost.empty()) return not_shown("turbo");
  return judged(boost == "0", "turbo", boost == "0" ? "off" : "on",
                "echo 0 > /sys/devices/system/cpu/cpufreq/boost");
}

CheckResult check_threads_of_a_core(const fs::path& root) {
  const auto active = first_line(root / "sys/devices/system/cpu/smt/active");
  if (active.empty()) return not_shown("simultaneous multithreading");
  return judged(active == "0", "simultaneous multithreading", active == "0" ? "off" : "on",
                "echo off > /sys/devices/system/cpu/smt/control");
}

CheckResult check_heat(const fs::path& root) {
  const auto count =
      first_line(root / "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count");
  if (count.empty()) return not_shown("heat");
  return judged(count == "0", "heat", "slowed down " + count + " times since the start",
                "cool the machine better, or hold its clock lower");
}

CheckResult check_transparent_huge_pages(const fs::path& root) {
  const auto setting = first_line(root / "sys/kernel/mm/transparent_hugepage/enabled");
  if (setting.empty()) return not_shown("transparent huge pages");
  return judged(setting.find("[always]") == std::string::npos, "transparent huge pages", setting,
                "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
}

}  // namespace

std::vector<CheckResult> check_machine(const fs::path& root) {
  return {check_cores(root), check_load(root),
          check_steal(root), check_governor(root),
          check_turbo(root), check_threads_of_a_core(root),
          check_heat(root),  check_transparent_huge_pages(root)};
}

}  // namespace torchwatch::checks
