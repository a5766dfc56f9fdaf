#include "torchwatch/executor/machine_lock.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>

using namespace torchwatch;
using executor::MachineLock;

namespace {

/// Another process that holds the lock; known to hold it when this is constructed.
class Holder {
 public:
  explicit Holder(const std::string& name) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    pid_ = fork();
    if (pid_ == 0) {
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
  CHECK(lock.error().message.find("process " + std::to_string(holder.pid()) + " (") == 0);
  CHECK(lock.error().message.find("integration_executor") != std::string::npos);
}

TEST_CASE("a lock whose holder was killed is free") {
  Holder holder(unique_name());
  REQUIRE_FALSE(MachineLock::acquire(unique_name()));
  holder.end();
  CHECK(MachineLock::acquire(unique_name()));
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
