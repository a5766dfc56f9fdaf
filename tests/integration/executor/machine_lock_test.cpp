#include "torchwatch/executor/machine_lock.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>

#include "skipped.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/platform/user.hpp"

using namespace torchwatch;
using executor::MachineLock;

namespace {

/// Another process that holds the lock; known to hold it when this is constructed.
class Holder {
 public:
  explicit Holder(const std::string& name, uid_t user = geteuid()) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    pid_ = fork();
    if (pid_ == 0) {
      if (setresuid(user, user, user) != 0) _exit(2);
      const auto lock = MachineLock::acquire(name);
      if (lock && write(ends[1], "x", 1) == 1) pause();
      _exit(1);
    }
    char byte = 0;
    close(ends[1]);
    REQUIRE(read(ends[0], &byte, 1) == 1);
    close(ends[0]);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder() { end(); }

  pid_t pid() const { return pid_; }
  void end() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
};

std::string unique_name() {
  return "test-" + std::to_string(getpid());
}

}  // namespace

TEST_CASE("a lock held by another process is refused, naming its holder") {
  Holder holder(unique_name());
  const auto lock = MachineLock::acquire(unique_name());
  REQUIRE_FALSE(lock);
  CHECK(lock.error().code == ErrorCode::conflict);
  INFO(lock.error().message);
  CHECK_THAT(lock.error().message,
             Catch::StartsWith("process " + std::to_string(holder.pid()) + " of " +
                               platform::user_name(geteuid()) + " ("));
  CHECK(lock.error().message.find("integration_executor") != std::string::npos);
}

TEST_CASE("a lock whose holder was killed is free") {
  const test::TemporaryFolder folder;
  for (const auto& name : {unique_name(), (folder.path() / "lock").string()}) {
    Holder holder(name);
    REQUIRE_FALSE(MachineLock::acquire(name));
    holder.end();
    CHECK(MachineLock::acquire(name));
  }
}

TEST_CASE("a lock held by another user is waited for like an illness, and names that user") {
  if (geteuid() != 0) {
    test::say_skipped("only root can be somebody else");
    return;
  }
  constexpr uid_t kNobody = 65534;
  const Holder holder(unique_name(), kNobody);
  const auto lock = MachineLock::acquire(unique_name());
  REQUIRE_FALSE(lock);
  CHECK(lock.error().code == ErrorCode::unavailable);
  CHECK_THAT(lock.error().message, Catch::Contains(" of nobody (integration_executor") ||
                                       Catch::Contains(" of nobody (/"));
  CHECK_THAT(lock.error().message, Catch::Contains("machine_lock to a file of your own"));
}

TEST_CASE("a locked file names its holder, and only who may write to it can hold it") {
  const test::TemporaryFolder folder;
  const auto path = (folder.path() / "lock").string();
  const Holder holder(path);
  const auto lock = MachineLock::acquire(path);
  REQUIRE_FALSE(lock);
  CHECK(lock.error().code == ErrorCode::conflict);
  CHECK_THAT(lock.error().message,
             Catch::StartsWith("process " + std::to_string(holder.pid()) + " of "));
  struct stat about{};
  REQUIRE(stat(path.c_str(), &about) == 0);
  CHECK((about.st_mode & S_IRWXO) == 0);
  CHECK(MachineLock::acquire("/nowhere/lock").error().code == ErrorCode::unavailable);
}

TEST_CASE(
    "a locked file that is made is its group's too, whatever the umask; another keeps its mode") {
  const test::TemporaryFolder folder;
  const auto mode_of = [](const std::string& path) {
    struct stat about{};
    REQUIRE(stat(path.c_str(), &about) == 0);
    return static_cast<int>(about.st_mode & 0777);
  };
  const auto made = (folder.path() / "made").string();
  const auto before = umask(0077);
  const auto lock = MachineLock::acquire(made);
  umask(before);
  REQUIRE(lock);
  CHECK(mode_of(made) == 0660);
  const auto given = folder.write("given", "").string();
  REQUIRE(chmod(given.c_str(), 0600) == 0);
  REQUIRE(MachineLock::acquire(given));
  CHECK(mode_of(given) == 0600);
}

TEST_CASE("asking again and again does not hide the holder") {
  const Holder holder(unique_name());
  for (int i = 0; i < 300; ++i) {
    const auto lock = MachineLock::acquire(unique_name());
    REQUIRE_FALSE(lock);
    REQUIRE(lock.error().message.find(std::to_string(holder.pid())) != std::string::npos);
  }
}

TEST_CASE("a lock ends with its object, and moves with it") {
  {
    auto lock = MachineLock::acquire(unique_name());
    REQUIRE(lock);
    const MachineLock moved = std::move(*lock);
    CHECK_FALSE(MachineLock::acquire(unique_name()));
  }
  CHECK(MachineLock::acquire(unique_name()));
}

TEST_CASE("locks of different names do not touch each other") {
  const auto one = MachineLock::acquire(unique_name() + "-a");
  const auto two = MachineLock::acquire(unique_name() + "-b");
  CHECK(one);
  CHECK(two);
}

TEST_CASE("a name that fits no socket is refused") {
  CHECK(MachineLock::acquire("").error().code == ErrorCode::invalid);
  CHECK(MachineLock::acquire(std::string(200, 'x')).error().code == ErrorCode::invalid);
}
