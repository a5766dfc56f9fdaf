#include "torchwatch/platform/failpoint.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>

#include "temporary_folder.hpp"
#include "torchwatch/platform/publish.hpp"

using namespace torchwatch;
namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

/// failpoint_child WORDS... with the environment's wishes.
pid_t start(const std::string& failpoints, Words words, const std::string& log = "/dev/null") {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  setenv("TORCHWATCH_FAILPOINT", failpoints.c_str(), 1);
  setenv("TORCHWATCH_FAILPOINT_LOG", log.c_str(), 1);
  if (freopen("/dev/null", "w", stderr) == nullptr) _exit(98);
  std::vector<char*> argv{words[0].data()};
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(TORCHWATCH_FAILPOINT_CHILD, argv.data());
  _exit(98);
}

/// "exit 0" or "signal 9".
std::string end_of(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? "exit " + std::to_string(WEXITSTATUS(status))
                           : "signal " + std::to_string(WTERMSIG(status));
}

const Words kThreeTimes = {"pass", "outbox.after_post", "3"};

}  // namespace

TEST_CASE("a failpoint acts at its n-th time and at no other") {
  CHECK(end_of(start("outbox.after_post:2:error", kThreeTimes)) == "exit 1");
  CHECK(end_of(start("outbox.after_post:4:error", kThreeTimes)) == "exit 0");
  CHECK(end_of(start("outbox.before_post:1:error", kThreeTimes)) == "exit 0");
}

TEST_CASE("several failpoints can be asked for") {
  const std::string both = "outbox.after_post:1:error,outbox.after_post:3:error";
  CHECK(end_of(start(both, kThreeTimes)) == "exit 2");
}

TEST_CASE("kill ends the process there") {
  CHECK(end_of(start("outbox.after_post:3:kill", kThreeTimes)) == "signal 9");
}

TEST_CASE("pause stops the process until SIGCONT arrives") {
  const pid_t pid = start("outbox.after_post:1:pause", kThreeTimes);
  int status = 0;
  waitpid(pid, &status, WUNTRACED);
  REQUIRE(WIFSTOPPED(status));
  kill(pid, SIGCONT);
  CHECK(end_of(pid) == "exit 0");
}

TEST_CASE("an unknown name or a malformed request stops the program instead of testing nothing") {
  const std::string aborted = "signal " + std::to_string(SIGABRT);
  for (const char* const text :
       {"outbox.no_such:1:kill", "outbox.after_post", "outbox.after_post:1",
        "outbox.after_post:0:kill", "outbox.after_post:x:kill", "outbox.after_post:1:explode"}) {
    INFO(text);
    CHECK(end_of(start(text, kThreeTimes)) == aborted);
  }
  CHECK(end_of(start("", {"pass", "no.such", "1"})) == aborted);
}

TEST_CASE("the log names every point that was reached, also the one that killed") {
  const test::TemporaryFolder folder;
  const std::string log = folder.path() / "log";
  end_of(start("outbox.after_post:2:kill", kThreeTimes, log));
  CHECK(platform::read_file(log, 1000) == std::string("outbox.after_post\noutbox.after_post\n"));
}

TEST_CASE("a file killed on its way is not there, or is there as before") {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() / "file";
  const std::string kill_first = "publish.before_file_rename:1:kill";
  CHECK(end_of(start(kill_first, {"publish-file", path, "new"})) == "signal 9");
  CHECK_FALSE(fs::exists(path));

  REQUIRE(platform::publish_file(path, "old"));
  CHECK(end_of(start(kill_first, {"publish-file", path, "new"})) == "signal 9");
  CHECK(platform::read_file(path, 100) == std::string("old"));
  CHECK(end_of(start("", {"publish-file", path, "new"})) == "exit 0");
  CHECK(platform::read_file(path, 100) == std::string("new"));
}

TEST_CASE("a file refused on its way leaves nothing") {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() / "file";
  CHECK(end_of(start("publish.before_file_rename:1:error", {"publish-file", path, "x"})) ==
        "exit 1");
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("a folder killed on its way is not there, and the next try is not disturbed") {
  const test::TemporaryFolder folder;
  const fs::path path = folder.path() / "build";
  CHECK(end_of(start("publish.before_folder_rename:1:kill", {"publish-folder", path, "killed"})) ==
        "signal 9");
  CHECK_FALSE(fs::exists(path));
  CHECK(end_of(start("", {"publish-folder", path, "whole"})) == "exit 0");
  CHECK(fs::exists(path / "whole"));
  CHECK_FALSE(fs::exists(path / "killed"));
}
