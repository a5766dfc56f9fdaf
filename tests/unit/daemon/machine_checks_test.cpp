#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "temporary_folder.hpp"
#include "torchwatch/daemon/checks.hpp"

using namespace torchwatch;
using namespace torchwatch::daemon;

namespace {

/// What a kernel shows, as files.
class Kernel {
 public:
  void shows(const std::string& file, const std::string& text) const {
    folder_.write(file, text + "\n");
  }

  CheckResult result(const std::string& what) const {
    const auto results = check_machine(folder_.path());
    const auto found = std::ranges::find(results, what, &CheckResult::what);
    REQUIRE(found != results.end());
    return *found;
  }

 private:
  test::TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("a quiet machine passes every check") {
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
    const auto result = kernel.result(what);
    INFO(what << ": " << result.found);
    CHECK(result.severity == Severity::good);
    CHECK(result.remedy.empty());
  }
}

TEST_CASE("each disturbance is named with what was found and its remedy") {
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
  const auto result = kernel.result(what);
  CHECK(result.severity == Severity::warning);
  CHECK(result.found.find(found) != std::string::npos);
  CHECK_FALSE(result.remedy.empty());
}

TEST_CASE("what a guest cannot see of its host counts as good") {
  const Kernel kernel;
  for (const char* what : {"clock governor", "turbo", "simultaneous multithreading", "heat"}) {
    CHECK(kernel.result(what).severity == Severity::good);
    CHECK(kernel.result(what).found == "not controlled from here");
  }
}
