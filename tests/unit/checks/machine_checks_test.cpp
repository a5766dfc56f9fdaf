#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "fake_http_client.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/checks/checks.hpp"

using namespace torchwatch;
using namespace torchwatch::checks;

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
      {"proc/stat", "cpu  500 0 100 300 0 0 0 100 0 0", "time taken by other guests", "10 %"},
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

TEST_CASE("what a guest cannot see of its host is unknown, never good") {
  const Kernel kernel;
  for (const char* what : {"clock governor", "turbo", "simultaneous multithreading", "heat"}) {
    CHECK(kernel.result(what).severity == Severity::unknown);
    CHECK(kernel.result(what).found == "unknown: the kernel does not show it");
  }
}

TEST_CASE("a machine without a GPU has none, which is an error only where one is asked for") {
  const test::TemporaryFolder folder;
  for (const auto& result : check_gpu(folder.path(), {})) {
    CHECK(result.severity == Severity::good);
    CHECK(result.found == "none");
  }
  for (const auto& result : check_gpu(folder.path(), {{Device::cuda, Mode::train}})) {
    CHECK(result.severity == Severity::error);
    CHECK_FALSE(result.remedy.empty());
  }
}

TEST_CASE("GPU and driver are named, and CUPTI that only root may use is reported") {
  const test::TemporaryFolder folder;
  folder.write(
      "proc/driver/nvidia/version",
      "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  "
      "(someone@)\nGCC version:  gcc version 12.2.0\n");
  folder.write("proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: \t\t NVIDIA H100\n");
  auto results = check_gpu(folder.path(), {});
  CHECK(results[0].found == "NVIDIA H100");
  CHECK(results[1].found == "580.159.04");
  CHECK(results[2].severity == Severity::unknown);
  folder.write("proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\n");
  folder.write("proc/driver/nvidia/version", "NVRM version: a driver without a number\n");
  results = check_gpu(folder.path(), {});
  CHECK(results[1].found == "a driver without a number");
  CHECK(results[2].severity == Severity::warning);
}

TEST_CASE("an address that other machines reach is a warning, one of no machine an error") {
  const auto severity = [](const std::string& address) { return check_address(address).severity; };
  for (const auto* here : {"127.0.0.1", "127.1.2.3", "localhost"}) {
    CHECK(severity(here) == Severity::good);
  }
  CHECK(severity("0.0.0.0") == Severity::warning);
  for (const auto* none : {"nohost.invalid", "127.0.0.1.evil.example", "1.2.3"}) {
    CHECK(severity(none) == Severity::error);
  }
  // 192.0.2.0/24 and 2001:db8::/32 are for documents: no machine has them.
  for (const auto* other : {"192.0.2.7", "2001:db8::7"}) {
    CHECK(severity(other) == Severity::error);
    CHECK_THAT(check_address(other).found, Catch::Contains("is not an address of this machine"));
  }
}

TEST_CASE("a channel's folder says how many builds it has, and which are not whole") {
  const test::TemporaryFolder folder;
  CHECK(check_builds(folder.path()).severity == Severity::warning);
  folder.write("2026-08-16/build-hash", "x");
  folder.write("2026-08-17/build-hash", "x");
  CHECK(check_builds(folder.path()).found == folder.path().string() + ": 2 builds");
  folder.write("nohash/lib/libtorch.so", "x");
  std::filesystem::create_directory(folder.path() / "empty");
  folder.write("a file", "x");
  const auto found = check_builds(folder.path());
  CHECK(found.severity == Severity::good);
  CHECK(found.found == folder.path().string() + ": 2 builds; without build-hash: empty, nohash");
}

TEST_CASE("files and folders that a comparison needs are looked at") {
  const test::TemporaryFolder folder;
  config::Config config;
  CHECK(check_batches(config).severity == Severity::good);
  config.suite.inference_batches = folder.path() / "batches.json";
  const auto missing = check_batches(config);
  CHECK(missing.severity == Severity::error);
  CHECK_THAT(missing.found, Catch::Contains("batches.json"));
  CHECK_THAT(missing.remedy, Catch::Contains("torchwatch workload batches --out"));
  folder.write("batches.json", R"({"preset": "small", "batches": {"resnet18 cpu": 16}})");
  CHECK(check_batches(config).found == "1 batch size");

  CHECK(check_lock("torchwatch").severity == Severity::good);
  CHECK(check_lock((folder.path() / "lock").string()).severity == Severity::good);
  const auto nowhere = check_lock((folder.path() / "nowhere/lock").string());
  CHECK(nowhere.severity == Severity::error);
  CHECK_THAT(nowhere.found, Catch::Contains("there is no folder "));
}

TEST_CASE("a workload that the suite does not have is named, with the one that was meant") {
  const std::vector<std::string> known{"dlrm", "resnet18"};
  CHECK(check_suite({}, known).severity == Severity::good);
  CHECK(check_suite({"dlrm"}, known).severity == Severity::good);
  const auto wrong = check_suite({"resnet_18"}, known);
  CHECK(wrong.severity == Severity::error);
  CHECK(wrong.found == "there is no workload \"resnet_18\"");
  CHECK(wrong.remedy.find("resnet18") != std::string::npos);
  const auto threshold = check_suite({"resnet_18"}, known, "[detect] thresholds");
  CHECK(threshold.what == "[detect] thresholds");
  CHECK(threshold.severity == Severity::error);
}

TEST_CASE("what GitHub says of the account is part of a check") {
  const test::TemporaryFolder folder;
  config::Config config;
  config.github.repository = "owner/name";
  config.github.token_file = folder.write("token", "secret");
  std::filesystem::permissions(config.github.token_file, std::filesystem::perms::owner_read |
                                                             std::filesystem::perms::owner_write);
  test::FakeHttpClient client([](const auto& request) -> Result<platform::HttpResponse> {
    if (request.url.ends_with("/user")) {
      return test::answer(200, R"({"login": "machine", "id": 7, "type": "User"})");
    }
    if (request.url.ends_with("/owner/name")) {
      return test::answer(200, R"({"permissions": {"pull": true}})");
    }
    return test::answer(502, "");
  });
  const auto results = check_github(config, client);
  REQUIRE(results.size() == 3);
  CHECK(results[0].severity == Severity::good);
  CHECK(results[0].found == "machine, by a token");
  CHECK(results[1].severity == Severity::warning);
  CHECK(results[2].severity == Severity::unknown);
  test::FakeHttpClient refusing([](const auto&) { return test::answer(401, "{}"); });
  CHECK(check_github(config, refusing).front().severity == Severity::error);
}

TEST_CASE("a disk is judged by the reserve without which no work begins, and shown exactly") {
  config::Config config;
  config.storage.path = "/tmp/state/torchwatch.sqlite";
  config.build.cache = "/tmp/builds";
  config.build.disk_reserve_bytes = std::int64_t{1} << 60;
  const auto full = checks::check_disk(config);
  CHECK(full.severity == checks::Severity::error);
  CHECK_THAT(full.found, Catch::Contains("less than [build] disk_reserve (1,048,576 TiB)"));
  config.build.disk_reserve_bytes = 0;
  CHECK(checks::check_disk(config).severity != checks::Severity::error);
}

TEST_CASE("pip is tried as releases use it, and what is said of it has a remedy") {
  config::Config config;
  config.sandbox.kind = config::SandboxKind::none;
  const test::TemporaryFolder folder;
  const auto found = checks::check_pip(config);
  CHECK(found.what == "pip");
  const std::string path = std::getenv("PATH");
  setenv("PATH", folder.path().c_str(), 1);
  const auto missing = checks::check_pip(config);
  setenv("PATH", path.c_str(), 1);
  CHECK(missing.severity == checks::Severity::warning);
  CHECK_THAT(missing.remedy, Catch::Contains("python3-pip"));
}

TEST_CASE("a receiver whose secret others may read, and a sendmail that is not there, are errors") {
  const test::TemporaryFolder folder;
  config::Config config;
  CHECK(check_receivers(config).empty());
  const auto secret = folder.write("chat.secret", "a secret of the webhook\n");
  std::filesystem::permissions(
      secret, std::filesystem::perms::owner_all | std::filesystem::perms::others_read);
  config.notify.webhooks.push_back({"chat", "https://chat.example/hook", secret, {}});
  config.notify.mails.push_back({"list", {"perf@example.org"}, "tw@example.org", {}});
  config.notify.sendmail = folder.path() / "sendmail";
  config.github.webhook_secret_file = folder.path() / "missing";
  for (const auto& result : check_receivers(config)) {
    INFO(result.what << ": " << result.found);
    CHECK(result.severity == Severity::error);
    CHECK_FALSE(result.remedy.empty());
  }
  std::filesystem::permissions(secret, std::filesystem::perms::owner_read);
  std::filesystem::permissions(folder.write("sendmail", "#!/bin/sh\n"),
                               std::filesystem::perms::owner_all);
  config.github.webhook_secret_file = secret;
  const auto mended = check_receivers(config);
  REQUIRE(mended.size() == 3);
  for (const auto& result : mended) CHECK(result.severity == Severity::good);
}
