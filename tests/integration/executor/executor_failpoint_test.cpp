#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <thread>

#include "temporary_folder.hpp"

using namespace torchwatch;
namespace fs = std::filesystem;

namespace {

/// A fake build and a scratch folder that outlives the daemons working in it.
struct Place {
  test::TemporaryFolder folder;
  std::string scratch = folder.path() / "scratch";
  std::string libraries = folder.write("lib/libtorch_cpu.so", "").parent_path();

  pid_t start_daemon(const char* failpoint) {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    setenv("TORCHWATCH_FAILPOINT", failpoint, 1);
    execl(TORCHWATCH_EXECUTOR_CHILD, "executor_child", scratch.c_str(), libraries.c_str(), nullptr);
    _exit(98);
  }
};

/// "exit 0" or "signal 9".
std::string end_of(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? "exit " + std::to_string(WEXITSTATUS(status))
                           : "signal " + std::to_string(WTERMSIG(status));
}

/// The attempt's runner, by the folder that it works in.
bool runner_lives(const std::string& scratch) {
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::error_code error;
    const fs::path folder = fs::read_symlink(entry.path() / "cwd", error);
    if (!error && folder.string().starts_with(scratch)) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a daemon killed during a run takes the runner along, and the next one continues") {
  Place place;
  place.folder.write("lib/behaviour", "hang");
  CHECK(end_of(place.start_daemon("executor.after_spawn:1:kill")) == "signal 9");
  while (runner_lives(place.scratch)) std::this_thread::yield();  // else the test times out
  CHECK_FALSE(fs::is_empty(place.scratch));

  place.folder.write("lib/behaviour", "");
  CHECK(end_of(place.start_daemon("")) == "exit 0");
  CHECK(fs::is_empty(place.scratch));
}

TEST_CASE("a daemon killed before it has read the result makes the run again") {
  Place place;
  CHECK(end_of(place.start_daemon("executor.before_result_read:1:kill")) == "signal 9");
  CHECK(end_of(place.start_daemon("")) == "exit 0");
}

TEST_CASE("an error outside a run is an error of the executor, and leaves nothing running") {
  Place place;
  place.folder.write("lib/behaviour", "hang");
  CHECK(end_of(place.start_daemon("executor.after_spawn:1:error")) == "exit 2");
  CHECK_FALSE(runner_lives(place.scratch));
  place.folder.write("lib/behaviour", "");
  CHECK(end_of(place.start_daemon("executor.before_result_read:1:error")) == "exit 2");
  CHECK(fs::is_empty(place.scratch));
}
