#include "torchwatch/daemon/machine_fitness.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "temporary_folder.hpp"

using namespace torchwatch;
using namespace torchwatch::daemon;

namespace {

/// What a kernel shows, as files.
class Kernel {
 public:
  void shows(const std::string& file, const std::string& text) const {
    folder_.write(file, text + "\n");
  }

  FitnessFinding finding(const std::string& what) const {
    const auto findings = check_machine(folder_.path());
    const auto found = std::ranges::find(findings, what, &FitnessFinding::what);
    REQUIRE(found != findings.end());
    return *found;
  }

 private:
  test::TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("a quiet machine of one's own is good in everything") {
  const Kernel kernel;
  kernel.shows("proc/cpuinfo", "processor\t: 0\nprocessor\t: 1");
  kernel.shows("proc/loadavg", "0.12 0.30 0.20 1/200 4711");
  kernel.shows("proc/stat", "cpu  900 0 100 9000 0 0 0 0 0 0");
  kernel.shows("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance");
  kernel.shows("sys/devices/system/cpu/intel_pstate/no_turbo", "1");
  kernel.shows("sys/devices/system/cpu/smt/active", "0");
  kernel.shows("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "0");
  kernel.shows("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never");
  for (const char* what :
       {"processor", "foreign load", "time taken by other guests", "clock governor", "turbo",
        "simultaneous multithreading", "heat", "transparent huge pages"}) {
    const auto finding = kernel.finding(what);
    INFO(what << ": " << finding.found);
    CHECK(finding.fitness == Fitness::good);
    CHECK(finding.remedy.empty());
  }
}

TEST_CASE("each disturbance is named with what was found and what to do") {
  const auto [file, text, what,
              found] = GENERATE(table<std::string, std::string, std::string, std::string>({
      {"proc/cpuinfo", "processor\t: 0", "processor", "1 cores"},
      {"proc/loadavg", "1.50 0.30 0.20 2/200 4711", "foreign load", "load 1.50"},
      {"proc/stat", "cpu  500 0 100 300 0 0 0 100 0 0", "time taken by other guests", "10.0 %"},
      {"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave", "clock governor",
       "powersave"},
      {"sys/devices/system/cpu/intel_pstate/no_turbo", "0", "turbo", "on"},
      {"sys/devices/system/cpu/cpufreq/boost", "1", "turbo", "on"},
      {"sys/devices/system/cpu/smt/active", "1", "simultaneous multithreading", "on"},
      {"sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "7", "heat", "7 times"},
      {"sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never",
       "transparent huge pages", "[always]"},
  }));
  const Kernel kernel;
  kernel.shows(file, text);
  const auto finding = kernel.finding(what);
  CHECK(finding.fitness == Fitness::disturbs);
  CHECK(finding.found.find(found) != std::string::npos);
  CHECK_FALSE(finding.remedy.empty());
}

TEST_CASE("what a guest cannot see of its host is not held against it") {
  const Kernel kernel;
  for (const char* what : {"clock governor", "turbo", "simultaneous multithreading", "heat"}) {
    CHECK(kernel.finding(what).fitness == Fitness::good);
    CHECK(kernel.finding(what).found == "not controlled from here");
  }
}
