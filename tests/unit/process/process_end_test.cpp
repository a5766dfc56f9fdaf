#include <catch2/catch.hpp>

#include "fake_process_runner.hpp"

using namespace torchwatch;

TEST_CASE("every end of a child is described in words") {
  CHECK(process::describe(process::Exited{3}) == "exit status 3");
  CHECK(process::describe(process::Signalled{11}) == "killed by signal 11 (SIGSEGV)");
  CHECK(process::describe(process::Signalled{40}) == "killed by signal 40");
  CHECK(process::describe(process::TimedOut{}) == "ran longer than its time limit");
  CHECK(process::describe(process::OutputLimit{}) == "printed more than its output limit");
  CHECK(process::describe(process::MemoryLimit{12}) ==
        "used more memory than its limit (12 bytes resident)");
  CHECK(process::describe(process::Cancelled{}) == "cancelled");
  CHECK(process::describe(process::SpawnFailed{"no such file"}) == "did not start: no such file");
  CHECK(process::describe(process::Abandoned{}).find("SIGKILL") != std::string::npos);
}

TEST_CASE("only an exit with 0 is success") {
  CHECK(process::succeeded(test::ended(process::Exited{0})));
  CHECK_FALSE(process::succeeded(test::ended(process::Exited{1})));
  CHECK_FALSE(process::succeeded(test::ended(process::TimedOut{})));
}

TEST_CASE("the fake runner plays its script and keeps what was asked for") {
  test::FakeProcessRunner runner([](const process::ProcessSpec& spec, std::stop_token) {
    return test::ended(process::Exited{0}, spec.arguments.front());
  });
  process::ProcessSpec spec{};
  spec.arguments = {"hello"};
  CHECK(runner.run(spec).output == "hello");
  CHECK(runner.specs().size() == 1);
}
