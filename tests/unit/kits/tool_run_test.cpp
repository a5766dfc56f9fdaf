#include "tool_run.hpp"

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>

#include "fake_process_runner.hpp"

namespace torchwatch::kits {
namespace {

TEST_CASE("of a failed build the first lines that tell an error are shown") {
  CHECK(
      first_errors("FAILED: a.o\ng++ -c a.cpp\na.cpp:1:2: error: one\n  note\na.cpp:2: error: two\n"
                   "b: error: three\nb: error: four\n") ==
      "a.cpp:1:2: error: one\na.cpp:2: error: two\nb: error: three");
  CHECK(first_errors("nothing known\nlast words\n") == "last words");
  CHECK(first_errors("").empty());
}

TEST_CASE("of what CMake says the text of its errors is shown, not where it stands") {
  CHECK(first_errors("-- Found Threads\nCMake Error at ../cmake/LibTorch.cmake:58 (message):\n"
                     "  libtorch_cpu.so needs libcudart.so.13\n\nCall Stack (most recent call "
                     "first):\n  CMakeLists.txt:3 (include)\n\n-- Configuring incomplete\n") ==
        "libtorch_cpu.so needs libcudart.so.13");
  CHECK(first_errors("CMake Error: could not find CMAKE_ROOT\nmore\n") ==
        "CMake Error: could not find CMAKE_ROOT");
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
