#include <sys/resource.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <future>
#include <optional>
#include <thread>

#include "bad_child_spec.hpp"
#include "skipped.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/sandbox/sandbox.hpp"

using namespace torchwatch;
using namespace std::chrono_literals;
using test::bad_child;

namespace {

/// Lets a sandbox be opened by a supervisor that the test has the patience of.
class Processes final : public process::ProcessRunner {
 public:
  process::ProcessOutcome run(const process::ProcessSpec& spec, std::stop_token stop) override {
    return supervisor_.run(spec, std::move(stop));
  }

 private:
  process::Supervisor supervisor_{"test", test::quick()};
};

struct Place {
  test::TemporaryFolder folder;
  Processes processes;
  std::optional<sandbox::Sandbox> sandbox;

  Place() {
    sandbox::Settings settings;
    settings.search_path = std::getenv("PATH");
    auto opened = sandbox::Sandbox::open(settings, processes);
    if (opened) {
      sandbox = *opened;
    } else {
      test::say_skipped("there is no sandbox on this machine: " + opened.error().message);
    }
  }

  process::ProcessSpec confined(std::vector<std::string> verbs) const {
    auto spec = bad_child(std::move(verbs));
    spec.working_folder = folder.path();
    sandbox::Profile profile;
    profile.writable = {folder.path()};
    REQUIRE(sandbox->confine(spec, profile));
    return spec;
  }
  process::ProcessOutcome run(std::vector<std::string> verbs) {
    return processes.run(confined(std::move(verbs)), {});
  }
};

template <typename End>
bool is(const process::ProcessOutcome& outcome) {
  INFO(process::describe(outcome.end) << "\n" << outcome.output);
  const bool holds = std::holds_alternative<End>(outcome.end);
  CHECK(holds);
  return holds;
}

/// Whether a process, seen from outside, has that text among its arguments.
bool is_named_by_a_process(const std::string& text) {
  for (const auto& entry : process::read_process_table()) {
    std::ifstream file("/proc/" + std::to_string(entry.pid) + "/cmdline");
    const std::string arguments{std::istreambuf_iterator<char>(file), {}};
    if (arguments.find(text) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a confined child ends, to its caller, as it does without a sandbox") {
  Place place;
  if (!place.sandbox) return;
  const auto exited = place.run({"print", "out", "error", "err", "exit", "7"});
  REQUIRE(is<process::Exited>(exited));
  CHECK(std::get<process::Exited>(exited.end).code == 7);
  CHECK(exited.output == "out\nerr\n");
  const auto killed = place.run({"signal", "11"});
  REQUIRE(is<process::Signalled>(killed));
  CHECK(std::get<process::Signalled>(killed.end).signal == SIGSEGV);
  CHECK(is<process::OutputLimit>(place.run({"flood"})));
}

TEST_CASE("a program that the sandbox cannot start did not start") {
  Place place;
  if (!place.sandbox) return;
  auto spec = place.confined({});
  spec.program = place.folder.write("no-program", "text");
  const auto outcome = place.processes.run(spec, {});
  REQUIRE(is<process::SpawnFailed>(outcome));
  CHECK(std::get<process::SpawnFailed>(outcome.end).reason.find("no-program") != std::string::npos);
}

TEST_CASE("a confined child sees its whole environment, its folder and no open file") {
  Place place;
  if (!place.sandbox) return;
  auto spec = place.confined({"env", "NAME", "env", "HOME", "cwd", "descriptors"});
  spec.environment = {{"NAME", "value"}};
  CHECK(place.processes.run(spec, {}).output ==
        "value\n(unset)\n" + place.folder.path().string() + "\n3\n");
}

TEST_CASE("nothing inside outlives a confined child, however it ends") {
  Place place;
  if (!place.sandbox) return;
  const std::string started = place.folder.path() / "pid";
  const std::vector<std::string> orphan = {"daemonise", "clean", "drop-output", "ignore-term",
                                           "pid-file",  started, "hang",        "--",
                                           "wait-file", started};
  CHECK(process::succeeded(place.run(orphan)));
  // The kernel takes a namespace down by and by; the test's own time limit ends one that stays.
  while (is_named_by_a_process(started)) std::this_thread::yield();
  auto hanging = orphan;
  hanging.emplace_back("hang");
  auto spec = place.confined(hanging);
  spec.time_limit = 300ms;
  CHECK(is<process::TimedOut>(place.processes.run(spec, {})));
  while (is_named_by_a_process(started)) std::this_thread::yield();
}

TEST_CASE("a confined child is asked to end before it is killed") {
  Place place;
  if (!place.sandbox) return;
  const std::string ready = place.folder.path() / "ready";
  const std::string cleaned = place.folder.path() / "cleaned";
  auto spec = place.confined({});
  spec.program = "/bin/bash";
  spec.arguments = {"-c", "trap 'touch " + cleaned + "; exit 0' TERM; touch " + ready +
                              "; while :; do read -t 1 < /dev/zero; done"};
  auto settings = test::quick();
  settings.grace = 30s;
  process::Supervisor supervisor("test", settings);
  std::stop_source stop;
  auto outcome =
      std::async(std::launch::async, [&] { return supervisor.run(spec, stop.get_token()); });
  while (!std::filesystem::exists(ready)) std::this_thread::yield();
  stop.request_stop();
  CHECK(is<process::Cancelled>(outcome.get()));
  CHECK(std::filesystem::exists(cleaned));
}

TEST_CASE("a confined child over its memory limit is ended") {
  Place place;
  if (!place.sandbox) return;
  auto spec = place.confined({"fork", "allocate", "96", "hang", "--", "hang"});
  spec.memory_limit_bytes = 64 << 20;
  CHECK(is<process::MemoryLimit>(place.processes.run(spec, {})));
}

TEST_CASE("a confined child has the priority, the cores and the place in the queue for memory") {
  Place place;
  if (!place.sandbox) return;
  const std::string autogroup = "/proc/self/autogroup";
  const bool has_autogroups = std::filesystem::exists(autogroup);
  std::vector<std::string> verbs{"cat", "/proc/self/stat",  "cat", "/proc/self/oom_score_adj",
                                 "cat", "/proc/self/status"};
  if (has_autogroups) verbs.insert(verbs.end(), {"cat", autogroup});
  auto spec = place.confined(verbs);
  spec.raise_priority = true;
  spec.cpus = {0};
  const auto outcome = place.processes.run(spec, {});
  REQUIRE(is<process::Exited>(outcome));
  CHECK(outcome.output.find("\n1000\n") != std::string::npos);
  CHECK(outcome.output.find("Cpus_allowed_list:\t0\n") != std::string::npos);
  if (!process::may_raise_priority()) {
    test::say_skipped("this user cannot raise priorities");
    return;
  }
  std::istringstream after_name(outcome.output.substr(outcome.output.rfind(") ") + 2));
  std::string field;
  constexpr int kNice = 17;  // the 19th of proc(5), of which two are before
  for (int i = 0; i < kNice; ++i) after_name >> field;
  CHECK(field == "-20");
  if (has_autogroups) CHECK_THAT(outcome.output, Catch::Contains(" nice -20\n"));
}

TEST_CASE("a pipe with a name joins two sandboxes") {
  Place place;
  if (!place.sandbox) return;
  const auto folder = std::filesystem::path(place.folder.path());
  for (const char* side : {"a", "b"}) std::filesystem::create_directories(folder / side);
  REQUIRE(mkfifo((folder / "a/pipe").c_str(), 0600) == 0);
  const auto spec_of = [&](const std::string& side, const std::string& script) {
    auto spec = bad_child({});
    spec.program = "/bin/sh";
    spec.arguments = {"-c", script};
    spec.working_folder = folder / side;
    sandbox::Profile profile;
    profile.writable = {folder / side, folder / "a/pipe"};
    REQUIRE(place.sandbox->confine(spec, profile));
    return spec;
  };
  const auto reader = spec_of("a", "cat pipe");
  const auto writer = spec_of("b", "echo turn > ../a/pipe; ls ../a");
  auto read = std::async(std::launch::async, [&] { return place.processes.run(reader, {}); });
  const auto written = place.processes.run(writer, {});
  CHECK(written.output == "pipe\n");
  CHECK(read.get().output == "turn\n");
}
