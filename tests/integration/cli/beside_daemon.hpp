#pragma once

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "memory_folder.hpp"
#include "printed.hpp"
#include "stored_command_line.hpp"
#include "temporary_folder.hpp"
#include "test_repository.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/platform/unix_socket.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::test {

namespace fs = std::filesystem;
using namespace storage;

/// A command of torchwatch as a process; killed with the object.
class CommandProcess {
 public:
  CommandProcess(const std::string& command, const fs::path& configuration) {
    const std::string file = configuration.string();
    const std::array<const char*, 7> arguments{
        TORCHWATCH_PROGRAM, command.c_str(), "--config", file.c_str(),
        "--log-level",      "error",         nullptr};
    REQUIRE(posix_spawn(&pid_, TORCHWATCH_PROGRAM, nullptr, nullptr,
                        const_cast<char* const*>(arguments.data()), environ) == 0);
  }
  CommandProcess(const CommandProcess&) = delete;
  CommandProcess& operator=(const CommandProcess&) = delete;
  ~CommandProcess() { end(SIGKILL); }

  pid_t process() const { return pid_; }

  /// Ends it; what waitpid says of it.
  int end(int signal) {
    int status = 0;
    if (pid_ > 0) {
      kill(pid_, signal);
      waitpid(pid_, &status, 0);
    }
    pid_ = -1;
    return status;
  }

  /// Waits for a minute at most until that is so; fails when the process ends before.
  void wait_until(const std::function<bool()>& is_so) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < limit) {
      if (is_so()) return;
      int status = 0;
      if (waitpid(pid_, &status, WNOHANG) == pid_) {
        pid_ = -1;
        FAIL("the command ended with status " << status);
      }
    }
    FAIL("the command does not get there");
  }

 private:
  pid_t pid_ = -1;
};

/// `torchwatch serve` as a process that listens.
class DaemonProcess : public CommandProcess {
 public:
  DaemonProcess(const fs::path& configuration, const fs::path& socket)
      : CommandProcess("serve", configuration) {
    wait_until([&] {
      const auto file = platform::SocketFile::open(socket);
      const auto listener = file ? file->listener() : fail(file.error());
      return listener && *listener == process();
    });
  }
};

/// A database with three open incidents, its configuration, and the command line on it.
struct Place {
  explicit Place(const std::string& below = "state") : state(folder.path() / below) {
    fs::create_directories(folder.path() / "nightlies");
    fs::create_directories(state);
    file = folder.write("torchwatch.toml", "[storage]\npath = \"" + below +
                                               "/db.sqlite\"\n[web]\nport = 0\n"
                                               "[executor]\nmachine_lock = \"" +
                                               folder.path().filename().string() + "\"\n");
    const auto database = open(false);
    const Id baseline = ready_build(*database, "2.14.0.dev20260816", BuildOrigin::folder);
    const Id candidate = ready_build(*database, "2.14.0.dev20260817", BuildOrigin::folder);
    ComparisonStore comparisons(*database);
    const auto comparison =
        comparisons.open({Purpose::requested, candidate, baseline}, kNow).value();
    REQUIRE(comparisons.advance(comparison, ComparisonState::reported, kNow));
    for (const auto* key : {"a", "b", "c"}) {
      IncidentRow row;
      row.comparison = comparison.id;
      row.key = key;
      row.title = "resnet18 cpu-train time +15.0 %";
      row.opened_at = kNow;
      const auto opened = IncidentStore(*database).open(row).value();
      OutboxRow issue;
      issue.key = std::string("open-") + key;
      issue.incident = opened.id;
      REQUIRE(OutboxStore(*database).queue(issue));
    }
  }

  /// Publishes two nightlies, which are found to be damaged when they are looked at.
  void publish_two() const {
    for (const auto* nightly : {"left", "right"}) {
      folder.write(std::string("nightlies/") + nightly + "/build-hash", std::string(40, '0'));
    }
  }

  /// Makes a repository, and configures it with a recipe; its two commits.
  std::pair<std::string, std::string> add_source() const {
    TestRepository repository(folder.path() / "pytorch");
    const auto first = repository.commit("first");
    const auto second = repository.commit("second");
    configure("[source]\nrepository = \"" + repository.path().string() +
              "\"\n[build]\nrecipe = \"/bin/true\"\n");
    return {first, second};
  }

  std::unique_ptr<Database> open(bool read_only) const {
    return Database::open({state / "db.sqlite", "", read_only}).value();
  }
  void configure(const std::string& more) const { std::ofstream(file, std::ios::app) << more; }

  /// Puts the cache where there is less free than it wants.
  void configure_full_disk() const {
    configure("[build]\ncache = \"" + memory.path().string() + "\"\ndisk_reserve = \"1TiB\"\n");
  }

  /// Runs a command until it says so, at most a minute long.
  Printed run_until(const std::vector<std::string>& arguments, const std::string& text) const {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    auto printed = run(arguments);
    while (printed.out.find(text) == std::string::npos &&
           std::chrono::steady_clock::now() < limit) {
      printed = run(arguments);
    }
    return printed;
  }
  Printed status_with(const std::string& text) const { return run_until({"status"}, text); }

  IncidentRow incident(Id id) const { return IncidentStore(*open(true)).get(id).value(); }
  fs::path socket() const { return state / "control"; }

  Printed run(std::vector<std::string> arguments) const {
    return run_command(std::move(arguments), file);
  }

  static constexpr WallMillis kNow = 1'786'935'845'000;
  TemporaryFolder folder;
  MemoryFolder memory;
  fs::path state;
  fs::path file;
};

}  // namespace torchwatch::test
