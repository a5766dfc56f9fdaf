// follow_index FOLDER INDEX: a daemon with a scripted runner that follows a package index. Each
// line of standard input is a number of hours that pass; then the daemon does what is due, and one
// line of JSON says what it knows: nightlies, their comparisons, its problems. FOLDER holds
// pytorch.git, whose commits the nightlies name.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "fake_clock.hpp"
#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "torchwatch/daemon/daemon.hpp"
#include "torchwatch/executor/machine_lock.hpp"
#include "torchwatch/platform/http_client.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/request_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

namespace {

using namespace torchwatch;
using nlohmann::json;

constexpr const char* kToken = "a-token-for-tests-1234";

json comparison_json(storage::Database& database, const storage::ComparisonRow& row) {
  const auto verdicts = storage::verdicts_of(database, row.id).value();
  return {{"id", row.id},
          {"candidate", row.candidate},
          {"baseline", row.baseline ? json(*row.baseline) : json()},
          {"state", to_string(row.state)},
          {"reason", row.reason},
          {"verdicts", verdicts.size()}};
}

json state_of(storage::Database& database) {
  auto builds = json::array();
  const auto known = storage::BuildStore(database).list().value();
  for (const auto& row : known) {
    if (row.origin != storage::BuildOrigin::nightly) continue;
    builds.push_back({{"id", row.id},
                      {"name", row.name},
                      {"state", to_string(row.state)},
                      {"trunk_commit", row.trunk_commit},
                      {"reason", row.reason}});
  }
  auto comparisons = json::array();
  const auto opened = storage::ComparisonStore(database).list(1000).value();
  for (const auto& row : opened) {
    if (row.purpose == storage::Purpose::nightly) {
      comparisons.push_back(comparison_json(database, row));
    }
  }
  auto incidents = json::array();
  const auto found = storage::IncidentStore(database).list(1000).value();
  for (const auto& row : found) incidents.push_back({{"comparison", row.comparison}});
  return {{"builds", builds}, {"comparisons", comparisons}, {"incidents", incidents}};
}

/// The daemon, asleep whenever nobody lets time pass.
class Followed {
 public:
  static Result<std::unique_ptr<Followed>> start(const config::Config& config) {
    auto followed = std::unique_ptr<Followed>(new Followed(config));
    TW_TRY(followed->application_,
           daemon::Application::open(config, followed->progress_, followed->log_,
                                     followed->runners_.get(), &followed->clock_));
    TW_TRY(followed->daemon_, daemon::Daemon::start(*followed->application_));
    followed->worker_ = std::jthread([own = followed.get()](std::stop_token stop) {
      own->ended_ = own->daemon_->run(std::move(stop));
    });
    return followed;
  }

  /// Lets the hours pass and waits until the daemon has nothing more to do. Errors: what ended it.
  Result<json> pass(int hours) {
    clock_.advance(std::chrono::hours(hours));
    TW_TRY(const auto woken, send("POST", "/api/v1/nightlies", "{}"));
    TW_TRY_VOID(wait_for(woken.at("id").get<storage::Id>()));
    // Nightlies come before requests, so this one ends after all that the look has found.
    storage::RequestStore requests(database());
    const auto name = "after " + std::to_string(++passed_);
    TW_TRY(const auto last,
           requests.receive(name, storage::RequestKind::bisection, R"({"suspect":"abc123"})", 1));
    TW_TRY_VOID(wait_for(last.first.id));
    TW_TRY_VOID(wait_until_idle());
    auto state = state_of(database());
    TW_TRY(const auto health, send("GET", "/healthz", ""));
    state["problems"] = health.value("problems", json::array());
    return state;
  }

 private:
  explicit Followed(const config::Config& config) : config_(config) {}

  storage::Database& database() { return application_->services().database; }

  Result<json> send(const std::string& method, const std::string& path, const std::string& body) {
    platform::HttpRequest request;
    request.method = method;
    request.url = "http://127.0.0.1:" + std::to_string(daemon_->port()) + path;
    request.headers = {{"Content-Type", "application/json"},
                       {"Authorization", std::string("Bearer ") + kToken}};
    request.body = body;
    TW_TRY(const auto answer, client_->send(request));
    return json::parse(answer.body);
  }

  Status wait_for(storage::Id id) {
    storage::RequestStore requests(database());
    while (true) {
      TW_TRY(const auto request, requests.get(id));
      const bool waits = request.state == storage::RequestState::pending ||
                         request.state == storage::RequestState::running;
      if (!waits) return {};
      std::this_thread::yield();
    }
  }

  /// The daemon holds the machine from its first item to its last.
  Status wait_until_idle() const {
    while (true) {
      const auto free = executor::MachineLock::acquire(config_.executor.machine_lock);
      if (free) return {};
      if (free.error().code != ErrorCode::conflict) return fail(free.error());
      std::this_thread::yield();
    }
  }

  const config::Config config_;
  test::FakeClock clock_;
  comparison::Silence progress_;
  log::Log log_{{log::Level::warning, log::Format::json}, std::cerr};
  std::unique_ptr<comparison::RunnerSource> runners_ = test::make_scripted_runners();
  std::unique_ptr<platform::HttpClient> client_ = platform::make_http_client("follow-index");
  std::unique_ptr<daemon::Application> application_;
  std::unique_ptr<daemon::Daemon> daemon_;
  Status ended_;
  int passed_ = 0;
  std::jthread worker_;
};

config::Config config_in(const std::filesystem::path& folder, const std::string& index) {
  auto config = test::scripted_config(folder);
  config.channel.kind = config::ChannelKind::wheel_index;
  config.channel.index = index;
  config.channel.flavour = "cpu";
  config.build.recipe.clear();
  config.detect.drift_every = 0;
  config.executor.machine_lock = folder.filename().string();
  config.sandbox.kind = config::SandboxKind::none;
  config.suite.workloads = {"dlrm"};
  config.suite.configurations = {{Device::cpu, Mode::infer}};
  config.web.port = 0;
  config.web.token_file = folder / "token";
  std::ofstream(config.web.token_file) << kToken << '\n';
  std::filesystem::permissions(config.web.token_file, std::filesystem::perms::owner_read |
                                                          std::filesystem::perms::owner_write);
  return config;
}

Status follow(const config::Config& config) {
  std::unique_ptr<Followed> followed;
  for (int hours = 0; std::cin >> hours;) {
    // It looks at the index as soon as it is there.
    if (!followed) {
      TW_TRY(followed, Followed::start(config));
    }
    TW_TRY(const auto state, followed->pass(hours));
    std::cout << state.dump() << std::endl;
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto followed = follow(config_in(argv[1], argv[2]));
  if (followed) return 0;
  std::fprintf(stderr, "%s\n", followed.error().message.c_str());
  return 3;
}
