// A request that cannot be carried out never keeps the one behind it from being done: every error,
// at every step of each kind of request, with a good request behind it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "fake_clock.hpp"
#include "planted_fault.hpp"
#include "requests.hpp"
#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/health/report.hpp"
#include "torchwatch/nightly/work_list.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"

using namespace torchwatch;
using nightly::Consequence;
using nlohmann::json;
using storage::RequestKind;
using storage::RequestState;
using test::FaultStep;
using test::PlantedFault;

namespace {

struct Asked {
  RequestKind kind = RequestKind::nightly;
  FaultStep step = FaultStep::list;
};

/// Four commits, the last of which are nightlies too.
struct Day {
  Day() {
    day.publish("2026-08-18", day.commits()[2], "noise 0.01 fixed\n# 2");
    day.publish("2026-08-19", day.commits()[3], "noise 0.01 fixed\n# 3");
  }
  test::TemporaryFolder folder;
  test::ScriptedDay day{
      folder.path(),
      {{"One", "noise 0.01 fixed"}, {"Two", "# 2"}, {"Three", "# 3"}, {"Four", "# 4"}}};
};

/// A service on a database and a cache of its own, asked for something that meets the fault, and
/// then for a comparison that does not.
struct TwoRequests {
  TwoRequests(const Day& day, const Asked& asked, PlantedFault& met)
      : config(day.day.config()), fault(met) {
    const auto suspect = day.day.commits()[1];
    fault.build = asked.kind == RequestKind::bisection ? suspect : "2026-08-18";
    configure();
    auto opened = daemon::Application::open(config, progress, log, runners.get());
    if (!opened) FAIL(opened.error().message);
    application = std::move(*opened);
    plant();
    faulty = store(asked.kind, body_of(asked.kind, suspect));
    behind = store(RequestKind::nightly, comparison_of("2026-08-19", "2026-08-16"));
  }

  void configure() {
    config.storage.path = folder.path() / "torchwatch.sqlite";
    config.build.cache = folder.path() / "builds";
    config.executor.machine_lock = folder.path().filename().string();
    config.sandbox.kind = config::SandboxKind::none;
    config.suite.workloads = {"dlrm"};
    config.suite.configurations = {{Device::cpu, Mode::infer}};
    config.bisect.verify_by_revert = false;
  }

  /// Puts the fault, and a clock of the test's, into the application.
  void plant() {
    auto& services = application->services();
    builds::CommitBuilder::Settings settings;
    settings.recipe = config.build.recipe;
    settings.folder = config.build.cache / "commits";
    settings.time_limit = config.build.timeout;
    builder.emplace(settings, application->processes(),
                    [this](const std::string& sha, const std::filesystem::path& to) -> Status {
                      TW_TRY_VOID(fault.meet(FaultStep::check_out, sha));
                      return bisect::check_out(config.source.repository, sha, to);
                    });
    parts.emplace(services, fault, clock);
    parts->services.commits = &*builder;
    std::destroy_at(&services);
    std::construct_at(&services, parts->services);
  }

  /// A comparison of memory alone takes a few runs.
  static json comparison_of(const std::string& candidate, const std::string& baseline) {
    return {{"candidate", candidate},
            {"baseline", baseline},
            {"opens_incidents", false},
            {"metrics", {"cpu_peak"}}};
  }

  static json body_of(RequestKind kind, const std::string& suspect) {
    switch (kind) {
      case RequestKind::bisection:
        return {{"suspect", suspect}, {"workloads", {"dlrm"}}};
      case RequestKind::fetch:
        return {{"name", "2026-08-18"}};
      case RequestKind::nightly:
        break;
    }
    return comparison_of("2026-08-18", "2026-08-17");
  }

  storage::Id store(RequestKind kind, const json& body) {
    storage::RequestStore requests(application->services().database);
    return requests.receive(body.dump(), kind, body.dump(), clock.wall_now()).value().first.id;
  }

  /// Works as the daemon does, an hour after the other.
  void work(int hours) {
    for (int hour = 0; hour < hours; ++hour) {
      while (work_once()) {
      }
      clock.advance(std::chrono::hours(1));
    }
  }
  bool work_once() {
    if (daemon::attend_next_request(*application, daemon::Urgency::in_turn, {}).value()) {
      return true;
    }
    nightly::WorkList list(application->services(), nightly::Retry::when_due);
    if (list.carry_out_next(nightly::Scope::requested, {}).value()) return true;
    return attend_search();
  }
  bool attend_search() {
    auto& services = application->services();
    const auto carried_on = daemon::bisections_of_requests(*application).value();
    const auto open = storage::BisectionStore(services.database).unfinished().value();
    for (const auto& row : open) {
      const bool due = nightly::is_due(services, nightly::key_of(row)).value();
      if (carried_on.contains(row.id) || !due) continue;
      REQUIRE(nightly::attend_bisection(services, row, {}));
      return true;
    }
    return false;
  }

  storage::RequestRow row_of(storage::Id id) {
    return storage::RequestStore(application->services().database).get(id).value();
  }
  std::vector<health::Problem> problems() {
    return health::stored_problems(application->services().database).value();
  }

  test::TemporaryFolder folder;
  config::Config config;
  PlantedFault& fault;
  test::FakeClock clock;
  comparison::Silence progress;
  std::ostringstream out;
  log::Log log{{log::Level::debug, log::Format::json}, out};
  std::unique_ptr<comparison::RunnerSource> runners = test::make_scripted_runners();
  std::unique_ptr<daemon::Application> application;
  std::optional<builds::CommitBuilder> builder;
  std::optional<test::FaultyParts> parts;
  storage::Id faulty = 0;
  storage::Id behind = 0;
};

/// What becomes of a request that meets the fault as often as it is tried; the list fails once.
RequestState expected(const Asked& asked, ErrorCode code) {
  const auto consequence = nightly::consequence_of(code);
  if (consequence == Consequence::ends) return RequestState::refused;
  if (asked.step == FaultStep::list) return RequestState::done;
  if (consequence == Consequence::waits) return RequestState::pending;
  // A published build has three tries of its own; who asks for it afterwards is refused.
  const bool is_of_build = asked.kind == RequestKind::nightly && asked.step == FaultStep::kit;
  return is_of_build ? RequestState::refused : RequestState::failed;
}

/// What waits is shown, what has ended is not; neither makes a probe end the service.
void check_health(TwoRequests& requests) {
  const auto problems = requests.problems();
  CHECK_FALSE(health::is_failing(problems));
  const auto found = std::ranges::find(problems, "request", &health::Problem::source);
  const bool waits = requests.row_of(requests.faulty).state == RequestState::pending;
  REQUIRE((found != problems.end()) == waits);
  if (!waits) return;
  CHECK(found->item == std::to_string(requests.faulty));
  CHECK(found->since > 0);
  CHECK_FALSE(found->detail.empty());
}

void check_behind(TwoRequests& requests) {
  const auto row = requests.row_of(requests.behind);
  REQUIRE(row.state == RequestState::done);
  const auto comparison = json::parse(row.result_json).at("comparison").get<storage::Id>();
  auto& database = requests.application->services().database;
  CHECK(storage::ComparisonStore(database).get(comparison).value().state ==
        storage::ComparisonState::reported);
  CHECK(database.check_invariants().value().empty());
}

void check_request(const Day& day, const Asked& asked, ErrorCode code) {
  INFO("step " << static_cast<int>(asked.step) << ", " << to_string(code));
  const int times = asked.step == FaultStep::list ? 1 : 100;
  PlantedFault fault{.step = asked.step, .code = code, .times = times, .build = ""};
  TwoRequests requests(day, asked, fault);
  requests.work(3);
  check_behind(requests);
  CHECK(requests.row_of(requests.faulty).state == expected(asked, code));
  check_health(requests);
  fault.times = 0;
  requests.work(1);
  CHECK(requests.row_of(requests.faulty).state != RequestState::pending);
  CHECK(requests.problems().empty());
}

/// Every error at each of the steps; an exception where the runners of builds are made.
void check_requests(RequestKind kind, const std::vector<FaultStep>& steps) {
  const Day day;
  for (const auto step : steps) {
    for (const auto code : test::kItemErrors) check_request(day, {kind, step}, code);
  }
  if (kind == RequestKind::fetch) return;
  check_request(day, {kind, FaultStep::throws}, ErrorCode::internal);
}

}  // namespace

TEST_CASE("whatever fails at any step of a requested comparison, the request behind it is done") {
  check_requests(RequestKind::nightly,
                 {FaultStep::list, FaultStep::fetch, FaultStep::kit, FaultStep::run});
}

TEST_CASE("whatever fails at any step of a requested search, the request behind it is done") {
  check_requests(RequestKind::bisection, {FaultStep::check_out, FaultStep::kit, FaultStep::run});
}

TEST_CASE("whatever fails at any step of a requested fetch, the request behind it is done") {
  check_requests(RequestKind::fetch, {FaultStep::list, FaultStep::fetch});
}
