// What a service does where foreign code cannot be confined, or is not to be, and where it says so.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>

#include "running_service.hpp"
#include "torchwatch/checks/checks.hpp"

using namespace torchwatch;
using Catch::Contains;
using config::SandboxKind;
using nlohmann::json;

namespace {

/// Hides bubblewrap, and every other program, for as long as it lives.
class WithoutPrograms {
 public:
  WithoutPrograms() { setenv("PATH", "/nowhere", 1); }
  ~WithoutPrograms() { setenv("PATH", before_.c_str(), 1); }
  WithoutPrograms(const WithoutPrograms&) = delete;
  WithoutPrograms& operator=(const WithoutPrograms&) = delete;

 private:
  const std::string before_ = std::getenv("PATH");
};

checks::CheckResult checked(const config::Config& config) {
  const auto results = checks::check_all(config);
  return *std::ranges::find(results, "[sandbox]", &checks::CheckResult::what);
}

/// Checks that the service runs, and says everywhere that nothing is confined, and why.
void require_warnings(test::RunningService& service, const std::string& why) {
  service.start();
  CHECK(service.application->sandbox().kind() == sandbox::Kind::none);
  const auto health = service.get("/healthz");
  CHECK(health.at("status") == "ok");
  CHECK(health.at("warnings") ==
        json{"foreign code runs without a sandbox; `torchwatch check` says why"});
  CHECK_THAT(service.out.str(), Contains(why) && Contains("not confined"));
  const auto found = checked(service.config);
  CHECK(found.severity == checks::Severity::warning);
  CHECK_THAT(found.found, Contains(why) && Contains("not confined"));
}

}  // namespace

TEST_CASE("a service that cannot confine foreign code runs without, and says so everywhere") {
  test::RunningService service;
  service.config.sandbox.kind = SandboxKind::automatic;
  const WithoutPrograms hidden;
  require_warnings(service, "no sandbox: ");
}

TEST_CASE("a service that is not to confine foreign code says so everywhere") {
  test::RunningService service;
  service.config.sandbox.kind = SandboxKind::none;
  require_warnings(service, "[sandbox] kind = ");
}

TEST_CASE("a service that has to confine foreign code does not start where it cannot") {
  test::RunningService service;
  service.config.sandbox.kind = SandboxKind::bubblewrap;
  const WithoutPrograms hidden;
  const auto opened = daemon::Application::open(service.config, service.progress, service.log);
  REQUIRE_FALSE(opened);
  CHECK_THAT(opened.error().text(), Contains("[sandbox] kind is bubblewrap") &&
                                        Contains("install the package bubblewrap"));
  CHECK(checked(service.config).severity == checks::Severity::error);
}
