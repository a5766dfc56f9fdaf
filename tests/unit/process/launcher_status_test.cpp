#include "launcher_status.hpp"

#include <signal.h>

#include <catch2/catch.hpp>

using namespace torchwatch::process;

namespace {

constexpr auto kEnded = "{ \"child-pid\": 18229 }\n{ \"exit-code\": 0 }\n";

}  // namespace

TEST_CASE("a launched program's exit status is that of the launcher") {
  const auto end = end_of_launched(Exited{3}, kEnded);
  REQUIRE(std::holds_alternative<Exited>(end));
  CHECK(std::get<Exited>(end).code == 3);
}

TEST_CASE("a launched program that a signal killed differs from one that exited") {
  const auto end = end_of_launched(Exited{128 + SIGSEGV}, kEnded);
  REQUIRE(std::holds_alternative<Signalled>(end));
  CHECK(std::get<Signalled>(end).signal == SIGSEGV);
  CHECK(std::holds_alternative<Exited>(end_of_launched(Exited{128}, kEnded)));
  CHECK(std::holds_alternative<Exited>(end_of_launched(Exited{255}, kEnded)));
}

TEST_CASE("a launcher that never started its program is not taken for the program's failure") {
  CHECK(std::holds_alternative<SpawnFailed>(end_of_launched(Exited{1}, "")));
  CHECK(std::holds_alternative<SpawnFailed>(end_of_launched(Exited{1}, "{ \"child-pid\": 9 }\n")));
  CHECK(std::holds_alternative<Signalled>(end_of_launched(Signalled{SIGKILL}, "")));
}
