#include "scripted_service.hpp"

#include <sstream>

#include "torchwatch/executor/local_executor.hpp"
#include "torchwatch/nightly/discovery.hpp"
#include "torchwatch/nightly/night.hpp"
#include "torchwatch/nightly/search_result.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/night_store.hpp"
#include "torchwatch/storage/run_store.hpp"

namespace torchwatch::test {
namespace {

class ScriptedRunners final : public nightly::RunnerSource {
 public:
  Result<builds::Kit> kit_for(const builds::Tree&, const std::vector<std::string>&,
                              std::stop_token) override {
    return builds::Kit{SCRIPTED_RUNNER, "scripted"};
  }
  Result<std::vector<std::string>> workloads() const override {
    return std::vector<std::string>{"dlrm", "soft_actor_critic"};
  }
};

}  // namespace

struct ScriptedService::Parts {
  explicit Parts(config::Config from) : config(std::move(from)) {}

  config::Config config;
  doors::SystemClock clock;
  doors::SystemRandom random;
  nightly::Silence progress;
  std::unique_ptr<storage::Database> database;
  std::unique_ptr<doors::ProcessRunner> processes;
  std::optional<executor::LocalExecutor> executor;
  ScriptedRunners runners;
  std::optional<bisect::CommitHistory> history;
  std::optional<builds::CommitBuilder> commits;
  std::unique_ptr<channel::Channel> channel;
  std::optional<nightly::Workshop> workshop;

  Status open(const std::string& vfs) {
    std::filesystem::create_directories(config.storage.path.parent_path());
    TW_TRY(database, storage::Database::open({config.storage.path, vfs, false}));
    TW_TRY(const int left, storage::RunStore(*database).abandoned_leftovers(clock.wall_now()));
    (void)left;
    processes = doors::make_process_runner(config.storage.path.string());
    executor.emplace(*processes, config.executor.scratch, executor::LocalExecutor::Settings{});
    TW_TRY_VOID(executor->sweep());
    TW_TRY(history, bisect::CommitHistory::open(config.source.repository));
    builds::CommitBuilder::Settings builds;
    builds.recipe = config.build.recipe;
    builds.folder = config.build.cache;
    builds.time_limit = config.build.timeout;
    commits.emplace(builds, *processes,
                    [this](const std::string& sha, const std::filesystem::path& folder) {
                      return bisect::check_out(config.source.repository, sha, folder);
                    });
    channel = channel::make_directory_channel(config.channel.path);
    workshop.emplace(nightly::Workshop{config, *database, *executor, runners, *channel, &*history,
                                       &*commits, clock, random, progress});
    return {};
  }
};

ScriptedService::ScriptedService(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
ScriptedService::~ScriptedService() = default;

Result<std::unique_ptr<ScriptedService>> ScriptedService::open(const config::Config& config,
                                                               const std::string& vfs) {
  auto parts = std::make_unique<Parts>(config);
  TW_TRY_VOID(parts->open(vfs));
  return std::unique_ptr<ScriptedService>(new ScriptedService(std::move(parts)));
}

nightly::Workshop& ScriptedService::workshop() {
  return *parts_->workshop;
}

Result<std::vector<storage::NightRow>> ScriptedService::carry_out_due_nights() {
  TW_TRY(const auto due, nightly::discover_nights(workshop(), {}));
  return nightly::carry_out_nights(workshop(), due, [] { return Status{}; }, {});
}

Result<std::string> final_state(storage::Database& database) {
  std::ostringstream text;
  TW_TRY(const auto nights, storage::NightStore(database).list(100));
  storage::IncidentStore incidents(database);
  for (const auto& night : nights) {
    text << "night " << night.id << " state " << static_cast<int>(night.state) << " "
         << night.reason << "\n";
    TW_TRY(const auto verdicts, storage::NightStore(database).verdicts_of(night.id));
    for (const auto& verdict : verdicts) {
      text << "  " << to_string(verdict.target) << ": " << to_string(verdict.verdict) << "\n";
    }
    TW_TRY(const auto found, incidents.of_night(night.id));
    for (const auto& incident : found) {
      TW_TRY(const auto messages, incidents.outbox_of(incident.id));
      text << "  incident " << incident.key << ", " << messages.size() << " messages\n";
    }
  }
  TW_TRY(const auto bisections, storage::BisectionStore(database).list(100));
  for (const auto& bisection : bisections) {
    TW_TRY(const auto result, nightly::parse_search_result(bisection.answer_json));
    text << "search " << bisection.good << ".." << bisection.bad << ": " << result.outcome << " "
         << result.culprit().value_or("none") << "\n";
  }
  return text.str();
}

}  // namespace torchwatch::test
