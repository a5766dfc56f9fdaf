#include "tool_run.hpp"

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>

#include "fake_process_runner.hpp"
#include "temporary_folder.hpp"

namespace torchwatch::kits {
namespace {

TEST_CASE("of a failed build the first line that tells an error is shown, with a short place") {
  CHECK(first_error("FAILED: a.o\ng++ -c a.cpp\n/far/away/a.cpp:1:2: error: one\n  note\n"
                    "a.cpp:2: error: two\n") == "a.cpp:1: error: one");
  CHECK(first_error("ld: cannot find -lx: /no/such\n") == "ld: cannot find -lx: /no/such");
  CHECK(first_error("nothing known\nlast words\n") == "last words");
  CHECK(first_error("").empty());
}

TEST_CASE("of what CMake says the text of its errors is shown, not where it stands") {
  CHECK(first_error("-- Found Threads\nCMake Error at ../cmake/LibTorch.cmake:58 (message):\n"
                    "  libtorch_cpu.so needs libcudart.so.13\n\nCall Stack (most recent call "
                    "first):\n  CMakeLists.txt:3 (include)\n\n-- Configuring incomplete\n") ==
        "libtorch_cpu.so needs libcudart.so.13");
  CHECK(first_error("CMake Error at ../cmake/LibTorch.cmake:13 (message):\n"
                    "  TORCHWATCH_LIBTORCH is\n  /a/long/path,\n  which has no lib/libc10.so.\n\n"
                    "  A second paragraph.\nmore\n") ==
        "TORCHWATCH_LIBTORCH is /a/long/path, which has no lib/libc10.so.");
  CHECK(first_error("CMake Error at a.cmake:1 (message):\n\n  broken") == "broken");
  CHECK(first_error("CMake Error: could not find CMAKE_ROOT\nmore\n") ==
        "CMake Error: could not find CMAKE_ROOT");
}

TEST_CASE("a line of any length is cut, whatever it holds") {
  const std::string deep(300'000, 'a');
  CHECK(first_error(deep + ":1: error: one\n").size() <= 4096);
  CHECK(first_error(deep + "\n").size() <= 4096);
  CHECK(first_error("CMake Error at a.cmake:1 (message):\n  " + deep + "\n").size() <= 4096);
}

TEST_CASE("what a failed tool leaves is one line: the error, how it ended, where its output is") {
  const test::TemporaryFolder folder;
  test::FakeProcessRunner processes([](const process::ProcessSpec&, std::stop_token) {
    return test::ended(process::Exited{1}, "/x/Macros.h:8:2: error: #error no\nFAILED\n");
  });
  const ToolRun run{.program = "ninja",
                    .arguments = {},
                    .folder = "/a folder",
                    .time_limit = std::chrono::seconds(1),
                    .output_limit_bytes = 1000,
                    .log = folder.path() / "a.log"};
  CHECK(run_tool(run, processes, {}).error().message ==
        "Macros.h:8: error: #error no (ninja: exit status 1); the whole output is in " +
            (folder.path() / "a.log").string());
}

TEST_CASE("a kit's tools do not see which compiler and flags the user prefers") {
  const char* const name = GENERATE("CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS");
  setenv(name, "nonsense", 1);
  test::FakeProcessRunner processes(
      [](const process::ProcessSpec&, std::stop_token) { return test::ended(process::Exited{0}); });
  const ToolRun run{.program = "cmake",
                    .arguments = {},
                    .folder = "/a folder",
                    .time_limit = std::chrono::seconds(1),
                    .output_limit_bytes = 1000};
  CHECK(run_tool(run, processes, {}).has_value());
  unsetenv(name);
  const auto environment = processes.specs().at(0).environment;
  CHECK((!environment.contains(name) || environment.at(name) == "g++"));
  CHECK(environment.at("CCACHE_BASEDIR") == "/a folder");
}

TEST_CASE("a tool that somebody killed, or that found a full disk, failed by the machine's fault") {
  const auto code_of = [](const process::ProcessEnd& end, const std::string& output) {
    test::FakeProcessRunner processes(
        [&](const process::ProcessSpec&, std::stop_token) { return test::ended(end, output); });
    const ToolRun run{.program = "cmake",
                      .arguments = {},
                      .folder = "/a folder",
                      .time_limit = std::chrono::seconds(1),
                      .output_limit_bytes = 1000,
                      .failure = ErrorCode::invalid};
    return run_tool(run, processes, {}).error().code;
  };
  CHECK(code_of(process::Signalled{SIGKILL}, "") == ErrorCode::unavailable);
  CHECK(code_of(process::Exited{1}, "No space left on device") == ErrorCode::unavailable);
  CHECK(code_of(process::Signalled{SIGSEGV}, "") == ErrorCode::invalid);
  CHECK(code_of(process::Exited{1}, "a.cpp:1: error: one") == ErrorCode::invalid);
}

}  // namespace
}  // namespace torchwatch::kits
