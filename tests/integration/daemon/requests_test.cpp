// What people ask the daemon for, from the answer at once to the end.
#include "requests.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <nlohmann/json.hpp>

#include "elf_maker.hpp"
#include "running_service.hpp"
#include "test_repository.hpp"
#include "torchwatch/bisection/opening.hpp"
#include "torchwatch/daemon/resolve.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/nightly/source_commits.hpp"
#include "torchwatch/pulls/pulls.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/request_store.hpp"
#include "torchwatch/storage/setback_store.hpp"
#include "torchwatch/storage/work_store.hpp"

using namespace torchwatch;
using Catch::Contains;
using nlohmann::json;
using test::is_over;
using Service = test::RunningService;

namespace {

/// Stores that the first request has opened a search, which has ended, so that nothing is built.
storage::Id end_search_of_request_1(Service& service, const std::string& good,
                                    const std::string& bad) {
  auto& database = service.application->services().database;
  storage::BisectionStore bisections(database);
  storage::BisectionRow row;
  row.good = good;
  row.bad = bad;
  const auto opened = bisections.open(row).value();
  REQUIRE(bisections.end(opened, to_json(bisection::BisectionResult{}), 1));
  REQUIRE(storage::RequestStore(database).note(1, json{{"bisection", opened.id}}.dump()));
  return opened.id;
}

/// Stores a comparison of a folder with itself that somebody asked for.
storage::ComparisonRow requested_comparison(storage::Database& database) {
  const auto build =
      storage::BuildStore(database).discover(storage::BuildOrigin::folder, "/elsewhere").value().id;
  const storage::NewComparison asked{
      .purpose = storage::Purpose::requested, .candidate = build, .baseline = build};
  return storage::ComparisonStore(database).open(asked, 1).value();
}

/// Ends the service as a kill would while it works on the first request, and starts it again.
void die_at_request_1(Service& service) {
  auto& database = service.application->services().database;
  REQUIRE(storage::WorkStore(database).begin({storage::ItemKind::request, "1"}));
  REQUIRE(storage::RequestStore(database).claim(1));
  service.stop();
  service.start();
}

/// Cancels the first request when something is logged, which is after the request was taken up and
/// before anything is opened.
struct CancelsAtLog final : comparison::Progress {
  explicit CancelsAtLog(Service& about) : service(about) {}
  void phase_started(const std::string&) override {}
  void progress(int, int, const std::string&) override {}
  void log(const std::string& line) override {
    auto& services = service.application->services();
    const auto request = storage::RequestStore(services.database).get(1);
    if (!request || request->state != storage::RequestState::running) return;
    logged = line;
    if (!pulls::cancel_request(services, 1, {.token = "ci"})) FAIL("it cannot be cancelled");
  }
  Service& service;
  std::string logged;
};

/// Checks that the first request was cancelled while it was at work, and has left nothing open.
void check_cancelled(Service& service, const CancelsAtLog& progress) {
  auto& services = service.application->services();
  REQUIRE(daemon::attend_next_request(*service.application, daemon::Urgency::in_turn, {}) == true);
  CAPTURE(progress.logged);
  const auto request = storage::RequestStore(services.database).get(1).value();
  CHECK(request.state == storage::RequestState::cancelled);
  CHECK(storage::ComparisonStore(services.database).list(10).value().empty());
  CHECK(storage::BisectionStore(services.database).list(10).value().empty());
}

}  // namespace

TEST_CASE("a request that is cancelled before its comparison is opened opens none") {
  Service service;
  test::TestRepository repository(service.folder.path() / "pytorch");
  repository.commit("first");
  service.config.source.repository = repository.path();  // it lacks the build's commit
  CancelsAtLog progress(service);
  service.start(progress);
  const auto build = service.folder.path() / "build";
  test::write_tree(build);
  const json body{{"candidate", build}, {"baseline", build}, {"workloads", {"resnet18"}}};
  storage::RequestStore requests(service.application->services().database);
  REQUIRE(requests.receive("a", storage::RequestKind::nightly, body.dump(), 1, {.user = 0}));
  check_cancelled(service, progress);
}

TEST_CASE("a request that is cancelled before its search is opened opens none") {
  Service service;
  const auto address = service.folder.path() / "upstream";
  test::TestRepository upstream(address);
  upstream.commit("first");
  const auto suspect = upstream.commit("second");
  service.config.source.repository = "file://" + address.string();
  service.config.build.recipe = "/bin/true";
  CancelsAtLog progress(service);
  service.start(progress);
  REQUIRE(nightly::fetch_source(service.application->services(), {}));
  service.ask("/api/v1/bisections", {{"suspect", suspect}, {"workloads", {"resnet18"}}});
  std::filesystem::rename(address, service.folder.path() / "gone");
  check_cancelled(service, progress);
}

TEST_CASE("a request is carried out and its result can be read") {
  Service service;
  service.start();
  service.work();
  const auto path = service.ask("/api/v1/nightlies", json::object());
  const auto request = service.wait_until(path, is_over);
  CHECK(request.at("state") == "done");
  CHECK(request.at("result").contains("note"));
}

TEST_CASE("a trigger that comes while a round is at work is answered by the next") {
  Service service;
  service.start();
  auto& application = *service.application;
  const auto path = service.ask("/api/v1/nightlies", json::object());
  CHECK(daemon::attend_next_request(application, daemon::Urgency::in_turn, {}) == false);
  CHECK(service.get(path).at("state") == "pending");
  REQUIRE(daemon::answer_triggers(application));
  CHECK(service.get(path).at("state") == "done");
}

TEST_CASE("what can never be carried out is refused before it is stored") {
  Service service;
  service.start();
  const auto problem = [&](const std::string& path, const json& body) {
    const auto refused = service.send("POST", path, body.dump());
    CHECK(refused.status == 422);
    return json::parse(refused.body);
  };
  const auto detail = [&](const std::string& path, const json& body) {
    return problem(path, body).at("detail").get<std::string>();
  };
  const json builds{{"candidate", "nowhere"}, {"baseline", "2.13.0"}};
  CHECK_THAT(detail("/api/v1/nightlies", builds), Contains("unknown build \"nowhere\""));
  CHECK_THAT(detail("/api/v1/comparisons", builds), Contains("unknown build \"nowhere\""));
  CHECK_THAT(detail("/api/v1/bisections", {{"suspect", "abc123"}}),
             Contains("set [source] repository"));
  const auto mistyped =
      problem("/api/v1/comparisons",
              {{"candidate", "2.13.0"}, {"baseline", "2.12.1"}, {"workloads", {"tts_anglar"}}});
  CHECK(mistyped.at("detail") == "there is no workload \"tts_anglar\"");
  CHECK_THAT(mistyped.at("remedy").get<std::string>(), Contains("did you mean tts_angular"));
  CHECK(service.get("/api/v1/requests").at("requests").empty());
}

TEST_CASE("a request whose build is unknown when its turn comes fails with what was looked for") {
  Service service;
  service.start();
  const auto path =
      service.store(storage::RequestKind::nightly, {{"candidate", "nowhere"}, {"baseline", "x"}});
  service.work();
  const auto request = service.wait_until(path, is_over);
  CHECK(request.at("state") == "refused");
  CHECK_THAT(request.at("result").at("error").get<std::string>(), Contains("nowhere"));
}

TEST_CASE("a request over TCP cannot name a folder of the machine") {
  Service service;
  service.start();
  const auto folder = service.folder.path().string();
  const json body{{"candidate", folder}, {"baseline", folder}};
  const auto refused = service.send("POST", "/api/v1/nightlies", body.dump());
  CHECK(refused.status == 422);
  CHECK_THAT(refused.body, Contains("must be a build of the channel or a release"));
  const auto path = service.store(storage::RequestKind::nightly, body);
  service.work();
  const auto request = service.wait_until(path, is_over);
  CHECK(request.at("state") == "refused");
  CHECK_THAT(request.at("result").at("error").get<std::string>(),
             Contains("must be a build of the channel or a release"));
}

TEST_CASE("a request that is refused keeps nothing behind it from being done") {
  Service service;
  service.start();
  const json unknown{{"candidate", "nowhere"}, {"baseline", "x"}};
  const auto first = service.store(storage::RequestKind::nightly, unknown);
  const auto second = service.store(storage::RequestKind::bisection, {{"suspect", "abc123"}});
  const auto third = service.ask("/api/v1/nightlies", json::object());
  service.work();
  CHECK(service.wait_until(first, is_over).at("state") == "refused");
  CHECK(service.wait_until(second, is_over).at("state") == "refused");
  CHECK(service.wait_until(third, is_over).at("state") == "done");
  CHECK(service.get("/healthz").at("status") == "ok");
}

TEST_CASE("a request that took the service down three times has failed") {
  Service service;
  service.start();
  const auto path = service.store(storage::RequestKind::bisection, {{"suspect", "abc123"}});
  for (int i = 0; i < 3; ++i) die_at_request_1(service);
  storage::SetbackStore setbacks(service.application->services().database);
  auto row = setbacks.list().value().at(0);
  CHECK(row.tries == 3);
  row.not_before = 0;  // its pause is over
  REQUIRE(setbacks.record(row));
  service.work();
  const auto request = service.wait_until(path, is_over);
  CHECK(request.at("state") == "failed");
  CHECK_THAT(request.at("result").at("error").get<std::string>(),
             Contains("the service ended while it worked on this"));
}

TEST_CASE("a request whose run was under way when the service ended uses up no try") {
  Service service;
  service.start();
  const auto path = service.store(storage::RequestKind::bisection, {{"suspect", "abc123"}});
  for (int i = 0; i < 3; ++i) {
    auto& database = service.application->services().database;
    const auto comparison = requested_comparison(database);
    storage::NewAttempt attempt;
    attempt.build = comparison.candidate;
    attempt.owner = {storage::OwnerKind::comparison, comparison.id};
    attempt.slot = "s" + std::to_string(i);
    attempt.benchmark.workload = "resnet18";
    REQUIRE(storage::RunStore(database).issue(attempt, "t" + std::to_string(i), 1));
    die_at_request_1(service);
  }
  CHECK(service.get(path).at("state") == "pending");
  CHECK(storage::SetbackStore(service.application->services().database).list().value().empty());
}

TEST_CASE("a request whose comparison somebody cancels is cancelled, not refused") {
  Service service;
  service.start();
  const auto path = service.store(storage::RequestKind::nightly,
                                  {{"candidate", "/elsewhere"}, {"baseline", "x"}});
  auto& database = service.application->services().database;
  const auto opened = requested_comparison(database);
  REQUIRE(storage::RequestStore(database).note(1, json{{"comparison", opened.id}}.dump()));
  REQUIRE(storage::ComparisonStore(database).cancel(opened.id, "by uid 0", 1));
  service.work();
  const auto request = service.wait_until(path, is_over);
  CHECK(request.at("state") == "cancelled");
  CHECK(request.at("result").at("error") == "its comparison 1 was cancelled");
}

TEST_CASE("a request that was put off carries on the bisection that it opened") {
  Service service;
  test::TestRepository repository(service.folder.path() / "pytorch");
  const auto parent = repository.commit("first");
  const auto suspect = repository.commit("second");
  service.config.source.repository = repository.path();
  service.config.build.recipe = "/bin/true";
  service.start();
  const auto path =
      service.ask("/api/v1/bisections", {{"suspect", suspect}, {"workloads", {"resnet18"}}});
  const auto opened = end_search_of_request_1(service, parent, suspect);
  service.work();
  const auto request = service.wait_until(path, is_over);
  CHECK(request.at("state") == "done");
  CHECK(request.at("result").at("bisection") == opened);
  storage::BisectionStore bisections(service.application->services().database);
  CHECK(bisections.list(10).value().size() == 1);
}

TEST_CASE("a search that is asked for measures at the preset that it names, else at [suite]'s") {
  Service service;
  service.start();
  auto& services = service.application->services();
  bisection::BisectionSpec spec;
  spec.good = std::string(40, 'a');
  spec.bad = std::string(40, 'b');
  const auto preset_of_search = [&](std::optional<Preset> asked) {
    const auto row = bisection::open_requested_bisection(services, spec, {}, asked).value();
    return bisection::parse_bisection_spec(row.spec_json).value().plan.preset;
  };
  REQUIRE(services.config.suite.preset == Preset::small);
  CHECK(preset_of_search({}) == Preset::small);
  CHECK(preset_of_search(Preset::paper) == Preset::paper);
  const auto refused =
      service.send("POST", "/api/v1/bisections", R"({"good": "a", "bad": "b", "preset": "large"})");
  CHECK(refused.status == 400);
  CHECK_THAT(refused.body, Contains("preset"));
}

TEST_CASE("a search that is asked for takes no sampled peak and no heap for exact") {
  Service service;
  service.start();
  auto& services = service.application->services();
  bisection::BisectionSpec spec;
  spec.good = std::string(40, 'a');
  spec.bad = std::string(40, 'b');
  const auto noise_of = [&](Metric metric) {
    const Series series{{"dlrm", {Device::cpu, Mode::train}, {}}, metric};
    const auto row = bisection::open_requested_bisection(services, spec, {series}, {}).value();
    return bisection::parse_bisection_spec(row.spec_json).value().series.at(0).noise_sd;
  };
  CHECK(noise_of(Metric::cpu_peak_resident) == 4 << 20);
  CHECK(noise_of(Metric::heap_growth) == 1024);
  CHECK(noise_of(Metric::time) > 0);
  for (const auto exact : {Metric::cpu_peak, Metric::leak_growth, Metric::leak_retained}) {
    CHECK(noise_of(exact) == 0);
  }
}

TEST_CASE("a commit that was pushed a moment ago is fetched before its search") {
  Service service;
  test::TestRepository upstream(service.folder.path() / "upstream");
  const auto parent = upstream.commit("first");
  service.config.source.repository = "file://" + upstream.path().string();
  service.config.build.recipe = "/bin/true";
  service.start();
  const auto suspect = upstream.commit("second");
  const auto path = service.ask("/api/v1/bisections", {{"suspect", suspect.substr(0, 10)}});
  const auto missing = service.ask("/api/v1/bisections", {{"suspect", std::string(40, 'a')}});
  end_search_of_request_1(service, parent, suspect);
  service.work();
  CHECK(service.wait_until(path, is_over).at("state") == "done");
  const auto refused = service.wait_until(missing, is_over);
  CHECK(refused.at("state") == "refused");
}

TEST_CASE("a build whose commit was being fetched when the service ended is not unknown") {
  Service service;
  test::TestRepository upstream(service.folder.path() / "upstream");
  upstream.commit("first");
  service.config.source.repository = "file://" + upstream.path().string();
  service.config.build.recipe = "/bin/true";
  service.start();
  std::stop_source ended;
  ended.request_stop();
  const auto build =
      daemon::resolve_build(*service.application, upstream.commit("second"), ended.get_token());
  REQUIRE_FALSE(build);
  CHECK(build.error().code == ErrorCode::cancelled);
}

TEST_CASE("a request that came before a restart is carried out after it") {
  Service service;
  service.start();
  const auto path = service.ask("/api/v1/nightlies", json::object());
  CHECK(service.get(path).at("state") == "pending");
  service.stop();
  service.start();
  service.work();
  CHECK(service.wait_until(path, is_over).at("state") == "done");
}
