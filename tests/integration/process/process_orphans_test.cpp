#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <future>
#include <thread>

#include "bad_child_spec.hpp"
#include "orphans_posix.hpp"
#include "temporary_folder.hpp"

using namespace torchwatch;
using test::bad_child;

namespace {

process::ProcessOutcome run(const process::ProcessSpec& spec,
                            const process::SupervisorSettings& settings = test::quick()) {
  process::Supervisor supervisor("test", settings);
  return supervisor.run(spec, {});
}

}  // namespace

TEST_CASE("a grandchild that holds the pipe is reported and killed") {
  const test::TemporaryFolder folder;
  const std::string pid_file = folder.path() / "pid";
  const auto outcome = run(
      bad_child({"fork", "pid-file", pid_file, "hang", "--", "wait-file", pid_file, "exit", "0"}));
  CHECK(process::succeeded(outcome));
  CHECK(outcome.pipe_held);
  CHECK(test::is_gone(test::pid_in(pid_file)));
}

TEST_CASE("what a grandchild prints just after its parent's end is still read") {
  auto settings = test::quick();
  settings.drain = std::chrono::seconds(60);  // the pipe's end comes first
  const auto outcome =
      run(bad_child({"fork", "late-print", "late", "--", "print", "early"}), settings);
  CHECK(outcome.output == "early\nlate\n");
  CHECK_FALSE(outcome.pipe_held);
}

TEST_CASE("an orphan that left group and session is found and killed") {
  const test::TemporaryFolder folder;
  const std::string pid_file = folder.path() / "pid";
  const auto outcome = run(bad_child({"daemonise", "drop-output", "ignore-term", "pid-file",
                                      pid_file, "hang", "--", "wait-file", pid_file}));
  CHECK(process::succeeded(outcome));
  CHECK_FALSE(outcome.pipe_held);
  CHECK(test::is_gone(test::pid_in(pid_file)));
}

TEST_CASE("an orphan whose main thread has ended is found and killed") {
  const test::TemporaryFolder folder;
  const std::string pid_file = folder.path() / "pid";
  const auto outcome = run(bad_child(
      {"daemonise", "drop-output", "outlive-main", pid_file, "--", "wait-file", pid_file}));
  CHECK(process::succeeded(outcome));
  CHECK(test::is_gone(test::pid_in(pid_file)));
}

TEST_CASE("a child that exits while its orphan forks on leaves none of them") {
  const test::TemporaryFolder folder;
  const std::string pid_file = folder.path() / "pid";
  run(bad_child({"daemonise", "drop-output", "fork", "pid-file", pid_file, "hang", "--", "hang",
                 "--", "wait-file", pid_file}));
  CHECK(test::is_gone(test::pid_in(pid_file)));
}

TEST_CASE("a grandchild that wiped its environment falls with its group") {
  const test::TemporaryFolder folder;
  const std::string pid_file = folder.path() / "pid";
  run(bad_child(
      {"fork", "clean", "drop-output", "pid-file", pid_file, "hang", "--", "wait-file", pid_file}));
  CHECK(test::is_gone(test::pid_in(pid_file)));
}

TEST_CASE("children that others in this process forked are not reaped by the supervisor") {
  const pid_t own = fork();
  if (own == 0) _exit(42);
  run(bad_child({"fork", "exit", "0", "--", "exit", "0"}));
  int status = 0;
  REQUIRE(waitpid(own, &status, 0) == own);
  CHECK(WEXITSTATUS(status) == 42);
}

TEST_CASE("the start of a daemon kills what a killed one left running") {
  const test::TemporaryFolder folder;
  const std::string leader_file = folder.path() / "leader";
  const std::string orphan_file = folder.path() / "orphan";
  const std::string owner = "test " + folder.path().string();
  const pid_t daemon = fork();
  if (daemon == 0) {
    process::make_process_runner(owner)->run(
        bad_child({"fork", "drop-output", "pid-file", orphan_file, "hang", "--", "wait-file",
                   orphan_file, "pid-file", leader_file, "hang"}));
    _exit(0);
  }
  while (test::pid_in(leader_file) == 0) std::this_thread::yield();
  kill(daemon, SIGKILL);
  waitpid(daemon, nullptr, 0);
  CHECK_FALSE(test::is_gone(test::pid_in(orphan_file)));  // PDEATHSIG does not reach it

  CHECK(process::kill_orphans_of_earlier_daemon("somebody else") == 0);
  CHECK(process::kill_orphans_of_earlier_daemon(owner) >= 1);
  CHECK(process::kill_orphans_of_earlier_daemon(owner) == 0);
}

TEST_CASE("the start of a daemon spares the children of a live one of the same owner") {
  const auto runner = process::make_process_runner("test of the same owner");
  std::stop_source source;
  std::promise<void> started;
  auto spec = bad_child({"hang"});
  spec.on_started = [&started](std::int64_t) { started.set_value(); };
  auto outcome =
      std::async(std::launch::async, [&] { return runner->run(spec, source.get_token()); });
  started.get_future().wait();
  CHECK(process::kill_orphans_of_earlier_daemon("test of the same owner") == 0);
  source.request_stop();
  CHECK(std::holds_alternative<process::Cancelled>(outcome.get().end));
}
