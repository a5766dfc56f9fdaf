#include <catch2/catch.hpp>

#include "fake_process_runner.hpp"

using namespace torchwatch;

TEST_CASE("every end of a child is told in words") {
  CHECK(doors::describe(doors::Exited{3}) == "exit status 3");
  CHECK(doors::describe(doors::Signalled{11}) == "killed by signal 11 (SIGSEGV)");
  CHECK(doors::describe(doors::Signalled{40}) == "killed by signal 40");
  CHECK(doors::describe(doors::TimedOut{}) == "ran longer than its time limit");
  CHECK(doors::describe(doors::OutputLimit{}) == "printed more than its output limit");
  CHECK(doors::describe(doors::MemoryLimit{12}) ==
        "used more memory than its limit (12 bytes resident)");
  CHECK(doors::describe(doors::Cancelled{}) == "cancelled");
  CHECK(doors::describe(doors::SpawnFailed{"no such file"}) == "did not start: no such file");
  CHECK(doors::describe(doors::Abandoned{}).find("SIGKILL") != std::string::npos);
}

TEST_CASE("only an exit with 0 is success") {
  CHECK(doors::succeeded(test::ended(doors::Exited{0})));
  CHECK_FALSE(doors::succeeded(test::ended(doors::Exited{1})));
  CHECK_FALSE(doors::succeeded(test::ended(doors::TimedOut{})));
}

TEST_CASE("the fake runner plays its script and keeps what was asked for") {
  test::FakeProcessRunner runner([](const doors::ProcessSpec& spec, std::stop_token) {
    return test::ended(doors::Exited{0}, spec.arguments.front());
  });
  doors::ProcessSpec spec{};
  spec.arguments = {"hello"};
  CHECK(runner.run(spec).output == "hello");
  CHECK(runner.specs().size() == 1);
}
