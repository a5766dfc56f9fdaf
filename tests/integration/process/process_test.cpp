#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <array>
#include <catch2/catch.hpp>
#include <future>
#include <sstream>

#include "bad_child_spec.hpp"
#include "forked_child.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/records/unique_fd.hpp"

using namespace torchwatch;
using namespace std::chrono_literals;
using process::ProcessOutcome;
using test::bad_child;

namespace {

ProcessOutcome run(const process::ProcessSpec& spec) {
  return process::make_process_runner("test")->run(spec);
}

template <typename End>
bool is(const ProcessOutcome& outcome) {
  INFO(process::describe(outcome.end) << "\n" << outcome.output);
  const bool holds = std::holds_alternative<End>(outcome.end);
  CHECK(holds);
  return holds;
}

std::string line_with(const std::string& text, const std::string& key) {
  const auto at = text.find(key);
  return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
}

// The session in the text of /proc/PID/stat: the fourth field after the name, which may hold
// blanks.
pid_t session_in(const std::string& stat) {
  std::istringstream fields(stat.substr(stat.rfind(')') + 1));
  std::string state;
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = -1;
  fields >> state >> parent >> group >> session;
  return session;
}

}  // namespace

TEST_CASE("a child's exit status and its output, both streams in order, come back") {
  const auto outcome = run(bad_child({"print", "one", "error", "two", "print", "3", "exit", "7"}));
  REQUIRE(is<process::Exited>(outcome));
  CHECK(std::get<process::Exited>(outcome.end).code == 7);
  CHECK(outcome.output == "one\ntwo\n3\n");
  CHECK_FALSE(outcome.pipe_held);
  CHECK(outcome.duration.count() > 0);
}

TEST_CASE("a child is spoken with: it reads a descriptor and is heard while it runs") {
  std::array<int, 2> ends{-1, -1};
  REQUIRE(pipe2(ends.data(), O_CLOEXEC) == 0);
  const UniqueFd input(ends[0]);
  UniqueFd words(ends[1]);
  std::promise<void> first_word;
  std::string heard;
  auto spec = bad_child({});
  spec.program = "/bin/cat";
  spec.input_descriptor = input.get();
  spec.output_limit_bytes = 1;
  spec.on_output = [&](std::string_view text) {
    if (std::exchange(heard, heard + std::string(text)).empty()) first_word.set_value();
  };
  auto outcome = std::async(std::launch::async, [&] { return run(spec); });
  REQUIRE(write(words.get(), "one\n", 4) == 4);
  first_word.get_future().wait();
  REQUIRE(write(words.get(), "two\n", 4) == 4);
  words.reset();
  const auto ended = outcome.get();
  CHECK(process::succeeded(ended));
  CHECK(ended.output.empty());
  CHECK(heard == "one\ntwo\n");
}

TEST_CASE("arguments arrive as they are: no shell reads them") {
  const std::string text = "$(id) `id` \"; rm -rf / #'\n\\";
  CHECK(run(bad_child({"print", text})).output == text + "\n");
}

TEST_CASE("a child sees its given environment and nothing of ours") {
  setenv("TORCHWATCH_TEST_SECRET", "secret", 1);
  auto spec = bad_child({"env", "TORCHWATCH_TEST_SECRET", "env", "PATH", "env", "GIVEN", "env",
                         "TORCHWATCH_OWNER", "env", "TORCHWATCH_ATTEMPT"});
  spec.environment = {{"GIVEN", "a b"}};
  CHECK(run(spec).output == "(unset)\n(unset)\na b\ntest\nattempt-1\n");
}

TEST_CASE("a child has three descriptors, whatever the daemon has open") {
  const test::TemporaryFolder folder;
  const auto file = folder.write("kept-open", "");
  std::FILE* const inheritable = std::fopen(file.c_str(), "r");
  CHECK(run(bad_child({"descriptors"})).output == "3\n");
  std::fclose(inheritable);
}

TEST_CASE(
    "a child begins in its folder, with usual signals, no core and first in the kernel's "
    "line for memory") {
  const test::TemporaryFolder folder;
  signal(SIGPIPE, SIG_IGN);
  auto spec = bad_child({"cwd", "cat", "/proc/self/status", "cat", "/proc/self/limits", "cat",
                         "/proc/self/oom_score_adj"});
  spec.working_folder = folder.path();
  const std::string output = run(spec).output;
  CHECK(output.starts_with(folder.path().string() + "\n"));
  CHECK(line_with(output, "SigBlk:") == "SigBlk:\t0000000000000000");
  CHECK(line_with(output, "SigIgn:") == "SigIgn:\t0000000000000000");
  CHECK(line_with(output, "Max core file size").find(" 0 ") != std::string::npos);
  CHECK(output.ends_with("\n1000\n"));
}

TEST_CASE("a child is pinned to the cores that were asked for") {
  auto spec = bad_child({"cat", "/proc/self/status"});
  spec.cpus = {0};
  CHECK(line_with(run(spec).output, "Cpus_allowed_list:") == "Cpus_allowed_list:\t0");
}

TEST_CASE("a child has a session of its own if asked for, and ends at its limit as any other") {
  auto spec = bad_child({"cat", "/proc/self/stat"});
  CHECK(session_in(run(spec).output) == getsid(0));
  spec.own_session = true;
  CHECK(session_in(run(spec).output) != getsid(0));
  spec.arguments = {"fork", "hang", "--", "hang"};
  spec.time_limit = 20ms;
  CHECK(is<process::TimedOut>(run(spec)));
}

TEST_CASE("a program named without a slash is looked up in the given PATH") {
  const test::TemporaryFolder folder;
  const std::string script = folder.write("bin/tool", "#!/bin/sh\necho found\n");
  chmod(script.c_str(), 0755);
  auto spec = bad_child({});
  spec.program = "tool";
  spec.environment["PATH"] = "/nowhere:" + (folder.path() / "bin").string();
  CHECK(run(spec).output == "found\n");
}

TEST_CASE("a child killed by a signal is distinguished from one that exits") {
  const auto outcome = run(bad_child({"signal", "11"}));
  REQUIRE(is<process::Signalled>(outcome));
  CHECK(process::describe(outcome.end) == "killed by signal 11 (SIGSEGV)");
}

TEST_CASE("a program that is still being written is waited for") {
  const test::TemporaryFolder folder;
  const auto copy = folder.path() / "bad_child";
  std::filesystem::copy_file(TORCHWATCH_BAD_CHILD, copy);
  std::FILE* const writer = std::fopen(copy.c_str(), "r+");
  auto spec = bad_child({"exit", "3"});
  spec.program = copy;
  auto outcome = std::async(std::launch::async, [&spec] { return run(spec); });
  std::fclose(writer);
  CHECK(process::describe(outcome.get().end) == "exit status 3");
}

TEST_CASE("what does not start says which step failed and why") {
  const test::TemporaryFolder folder;
  auto missing = bad_child({});
  missing.program = "/nowhere/runner";
  auto outcome = run(missing);
  REQUIRE(is<process::SpawnFailed>(outcome));
  CHECK(process::describe(outcome.end).find("/nowhere/runner: execute: ENOENT") !=
        std::string::npos);

  auto data = bad_child({});
  data.program = folder.write("data", "not a program");
  outcome = run(data);
  REQUIRE(is<process::SpawnFailed>(outcome));
  CHECK(process::describe(outcome.end).find("EACCES") != std::string::npos);

  auto nowhere = bad_child({});
  nowhere.working_folder = folder.path() / "missing";
  outcome = run(nowhere);
  REQUIRE(is<process::SpawnFailed>(outcome));
  CHECK(process::describe(outcome.end).find("working folder: ENOENT") != std::string::npos);
}

TEST_CASE("nothing runs without a time limit") {
  auto spec = bad_child({});
  spec.time_limit = {};
  CHECK(is<process::SpawnFailed>(run(spec)));
}

TEST_CASE("children run side by side, each with its own outcome") {
  const auto runner = process::make_process_runner("test");
  const test::TemporaryFolder folder;
  const std::string a = folder.path() / "a";
  const std::string b = folder.path() / "b";
  // Each waits for the other: they can only end when both run.
  auto first = std::async(std::launch::async, [&] {
    return runner->run(bad_child({"pid-file", a, "wait-file", b, "exit", "1"}));
  });
  const auto second = runner->run(bad_child({"pid-file", b, "wait-file", a, "exit", "2"}));
  CHECK(process::describe(first.get().end) == "exit status 1");
  CHECK(process::describe(second.end) == "exit status 2");
}

TEST_CASE("a stop request ends a child that runs") {
  std::stop_source source;
  auto spec = bad_child({"hang"});
  spec.on_started = [&source](std::int64_t) { source.request_stop(); };
  CHECK(
      is<process::Cancelled>(process::make_process_runner("test")->run(spec, source.get_token())));
}

TEST_CASE("a stop request made before starts nothing") {
  std::stop_source source;
  source.request_stop();
  bool has_started = false;
  auto spec = bad_child({});
  spec.on_started = [&has_started](std::int64_t) { has_started = true; };
  CHECK(
      is<process::Cancelled>(process::make_process_runner("test")->run(spec, source.get_token())));
  CHECK_FALSE(has_started);
}

TEST_CASE("a runner that goes away takes its children along") {
  auto runner = process::make_process_runner("test");
  std::promise<std::int64_t> started;
  auto spec = bad_child({"ignore-term", "hang"});
  spec.on_started = [&started](std::int64_t pid) { started.set_value(pid); };
  auto outcome = std::async(std::launch::async, [&runner, &spec] { return runner->run(spec); });
  const auto pid = static_cast<pid_t>(started.get_future().get());
  runner.reset();
  CHECK(is<process::Cancelled>(outcome.get()));
  CHECK(test::is_gone(pid));
}

TEST_CASE("whether a priority may be raised is known without raising one") {
  const int before = getpriority(PRIO_PROCESS, 0);
  const bool may = process::may_raise_priority();
  CHECK(getpriority(PRIO_PROCESS, 0) == before);
  test::ForkedChild trying([](int) { return setpriority(PRIO_PROCESS, 0, -20); });
  CHECK(may == (trying.wait().exit_status == 0));
}
