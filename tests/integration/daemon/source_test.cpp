// A daemon whose [source] is in trouble: each nightly has its verdict all the same, and /healthz or
// the incident says what is wrong.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "running_service.hpp"
#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "test_repository.hpp"
#include "torchwatch/daemon/resolve.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"

using namespace torchwatch;
using bisection::BisectionOutcome;
using Catch::Contains;
using nlohmann::json;

namespace fs = std::filesystem;

namespace {

constexpr const char* kQuiet = "noise 0.01 fixed";
constexpr const char* kSlow = "noise 0.01 fixed\ntime dlrm cpu-infer 1.5";

/// A daemon with a scripted runner over a folder of nightlies, of which the second one is slower.
struct SourceService : test::RunningService {
  SourceService() {
    const auto of_day = day.config();
    config.channel.path = of_day.channel.path;
    config.build.recipe = of_day.build.recipe;
    config.sandbox.kind = config::SandboxKind::none;
    config.suite.workloads = {"dlrm"};
    config.suite.configurations = {{Device::cpu, Mode::infer}};
    config.detect.drift_every = 0;
    config.measure.place_libraries = false;
    config.bisect.verify_by_revert = false;
    publish(17, day.commits()[1], kSlow);
  }
  ~SourceService() { stop(); }  // before the runners go

  /// The repository, as an address that is cloned.
  std::string address() const { return "file://" + upstream().string(); }
  fs::path upstream() const { return folder.path() / "day" / "pytorch.git"; }

  void publish(int number, const std::string& commit, const std::string& behaviour) {
    const auto text = std::to_string(number);
    day.publish("2026-08-" + text, commit, behaviour + "\n# " + text);
  }

  void begin(const std::string& repository) {
    config.source.repository = repository;
    application = daemon::Application::open(config, progress, log, runners.get()).value();
    daemon = daemon::Daemon::start(*application).value();
    work();
  }

  /// Has the daemon look for nightlies, and waits until that many have ended.
  void follow(std::size_t nightlies) {
    ask("/api/v1/nightlies", json::object());
    wait_until("/api/v1/comparisons", [&](const json& answer) {
      std::size_t ended = 0;
      for (const auto& row : answer.at("comparisons")) {
        if (row.at("purpose") != "nightly") continue;
        ended += row.at("state") == "reported" || row.at("state") == "accepted" ? 1 : 0;
      }
      return ended == nightlies;
    });
  }

  /// Carries the two first nightlies out, and the third, which is behind the trouble.
  void follow_three() {
    follow(2);
    publish(18, day.commits()[2], kQuiet);
    follow(3);
  }

  /// What the search of an incident ended with.
  bisection::BisectionResult search(storage::Id id = 1) {
    const auto row = storage::BisectionStore(database()).get(id).value();
    CHECK(row.incident);
    return bisection::parse_bisection_result(row.result_json).value();
  }

  /// The issue of the first incident.
  std::string issue() {
    const auto messages = storage::OutboxStore(database()).unsent().value();
    const auto found =
        std::ranges::find(messages, storage::OutboxKind::open, &storage::OutboxRow::kind);
    REQUIRE(found != messages.end());
    return found->body;
  }

  /// What /healthz says of [source]; empty where nothing is wrong.
  std::string source_problem() {
    const auto health = get("/healthz");
    for (const auto& problem : health.value("problems", json::array())) {
      if (problem.at("source") == "source") return problem.at("detail");
    }
    return "";
  }

  storage::Database& database() { return application->services().database; }

  test::ScriptedDay day{folder.path() / "day",
                        {{"One", "noise 0.01 fixed"}, {"Two", "# 2"}, {"Three", "# 3"}}};
  std::unique_ptr<comparison::RunnerSource> runners = test::make_scripted_runners();
};

/// Has git do something. Nothing of it comes from outside the machine.
void git(std::vector<std::string> arguments) {
  const auto processes =
      process::make_process_runner("test of sources " + std::to_string(getpid()));
  const auto outcome = processes->run({.program = "git",
                                       .arguments = std::move(arguments),
                                       .environment = {{"PATH", "/usr/bin:/bin"}},
                                       .working_folder = "/",
                                       .time_limit = std::chrono::seconds(60),
                                       .output_limit_bytes = 100'000,
                                       .label = {},
                                       .cpus = {},
                                       .on_started = {}},
                                      {});
  INFO(outcome.output);
  REQUIRE(process::succeeded(outcome));
}

}  // namespace

TEST_CASE("while the server of [source] is down nightlies have verdicts, and /healthz says so") {
  SourceService service;
  service.begin("http://127.0.0.1:9/pytorch.git");
  service.follow_three();
  CHECK_THAT(service.source_problem(),
             Contains("cannot fetch [source] repository") && Contains("127.0.0.1:9/pytorch.git"));
  CHECK(service.get("/healthz").at("status") == "degraded");
  CHECK(service.search().outcome == BisectionOutcome::nothing_to_search);
  CHECK_THAT(service.search().reason, Contains(service.day.commits()[0]));
  CHECK_THAT(service.issue(), Contains("blames no commit"));
}

TEST_CASE("a nightly that nobody has looked at yet is an end of a search by its name") {
  SourceService service;
  service.config.source.repository = service.upstream().string();
  service.application = daemon::Application::open(service.config, service.progress, service.log,
                                                  service.runners.get())
                            .value();
  auto& application = *service.application;
  REQUIRE(storage::BuildStore(service.database()).list().value().empty());
  CHECK(daemon::resolve_commit(application, "2026-08-17", {}).value() == service.day.commits()[1]);
  const auto unknown = daemon::resolve_commit(application, "2026-08-19", {});
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == ErrorCode::not_found);
}

TEST_CASE("a search in a shallow clone says which commit it lacks, and the next nightly is done") {
  SourceService service;
  const auto shallow = service.folder.path() / "shallow.git";
  git({"clone", "--quiet", "--bare", "--depth", "1", service.address(), shallow.string()});
  service.begin(shallow.string());
  service.follow_three();
  const auto result = service.search();
  CHECK(result.outcome == BisectionOutcome::nothing_to_search);
  CHECK_THAT(result.reason, Contains(service.day.commits()[0]));
  CHECK_THAT(service.issue(), Contains("blames no commit"));
  CHECK(service.get("/healthz").at("status") == "ok");
}

TEST_CASE("a nightly whose commit nobody has is compared, and its incident names that commit") {
  const std::string unknown(40, 'a');
  SourceService service;
  service.publish(17, unknown, kSlow);
  service.begin(service.address());
  service.follow_three();
  const auto result = service.search();
  CHECK(result.outcome == BisectionOutcome::nothing_to_search);
  CHECK_THAT(result.reason, Contains(unknown));
  CHECK_THAT(service.issue(), Contains("blames no commit"));
  CHECK(service.source_problem().empty());
}

TEST_CASE(
    "a search across a push by force says why it blames nobody, and the one behind it works") {
  SourceService service;
  const auto& commits = service.day.commits();
  service.publish(17, commits[1], kQuiet);
  service.begin(service.address());
  service.follow(2);
  // The trunk loses its two newest commits, and goes another way from the first.
  test::TestRepository upstream(service.upstream());
  test::TestCommit instead;
  instead.subject = "Two, otherwise";
  instead.parents = {commits[0]};
  instead.files["aten/slow"] = "time dlrm cpu-infer 1.5\n";
  const auto slow = upstream.commit(instead);
  service.publish(18, slow, kSlow);
  service.follow(3);
  CHECK(service.source_problem().empty());
  CHECK(service.search(1).outcome == BisectionOutcome::nothing_to_search);
  CHECK_THAT(service.search(1).reason, Contains("they are on different branches"));
  CHECK_THAT(service.issue(), Contains("blames no commit"));

  test::TestCommit next;
  next.subject = "Keep the last result";
  next.files["aten/leak"] = "leak dlrm cpu-infer 4096\n";
  const auto leak = upstream.commit(next);
  service.publish(19, leak, std::string(kSlow) + "\nleak dlrm cpu-infer 4096");
  service.follow(4);
  CHECK(service.search(2).culprit() == leak);
}
