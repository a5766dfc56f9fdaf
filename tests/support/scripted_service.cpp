#include "scripted_service.hpp"

#include <sstream>

#include "torchwatch/comparison/external_workloads.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/executor/local_executor.hpp"
#include "torchwatch/nightly/discovery.hpp"
#include "torchwatch/nightly/stages.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/runs/trunk_range_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

namespace torchwatch::test {
namespace {

class ScriptedRunners final : public comparison::RunnerSource {
 public:
  Result<kits::Kit> kit_for(const builds::Tree&, const std::vector<std::string>&,
                            std::stop_token) override {
    return kits::Kit{SCRIPTED_RUNNER, "scripted"};
  }
  Result<std::vector<std::string>> workloads() const override {
    return std::vector<std::string>{"dlrm", "soft_actor_critic"};
  }
};

}  // namespace

struct ScriptedService::Parts {
  explicit Parts(config::Config from) : config(std::move(from)) {}

  config::Config config;
  platform::SystemClock clock;
  platform::SystemRandom random;
  comparison::Silence progress;
  std::unique_ptr<storage::Database> database;
  std::unique_ptr<process::ProcessRunner> processes;
  std::optional<executor::LocalExecutor> executor;
  ScriptedRunners runners;
  comparison::SuiteRunners suite{runners, config};
  std::optional<bisect::CommitHistory> history;
  std::optional<builds::CommitBuilder> commits;
  std::unique_ptr<channel::Channel> channel;
  std::optional<packages::PackageStore> packages;
  std::optional<comparison::Services> services;

  Status open(const std::string& vfs) {
    std::filesystem::create_directories(config.storage.path.parent_path());
    TW_TRY(database, storage::Database::open({config.storage.path, vfs, false}));
    TW_TRY(const int left, storage::RunStore(*database).abandon_leftovers(clock.wall_now()));
    (void)left;
    processes = process::make_process_runner(config.storage.path.string());
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
    services.emplace(comparison::Services{config, *database, *executor, suite, *channel, &*history,
                                          &*commits, clock, random, progress});
    packages.emplace(packages::PackageStore::Settings{.program = TORCHWATCH_AOT_INDUCTOR,
                                                      .folder = config.build.cache / "packages"},
                     *processes);
    services->packages = &*packages;
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

comparison::Services& ScriptedService::services() {
  return *parts_->services;
}

Result<std::vector<storage::ComparisonRow>> ScriptedService::carry_out_due_comparisons() {
  TW_TRY(const auto due, nightly::discover_comparisons(services(), {}));
  return nightly::carry_out_comparisons(services(), due, [] { return Status{}; }, {});
}

std::unique_ptr<comparison::RunnerSource> make_scripted_runners() {
  return std::make_unique<ScriptedRunners>();
}

Result<std::string> final_state(storage::Database& database) {
  std::ostringstream text;
  TW_TRY(const auto comparisons, storage::ComparisonStore(database).list(100));
  storage::IncidentStore incidents(database);
  storage::OutboxStore outbox(database);
  for (const auto& comparison : comparisons) {
    text << "comparison " << comparison.id << " state " << static_cast<int>(comparison.state) << " "
         << comparison.reason << "\n";
    TW_TRY(const auto can_matter, storage::TrunkRangeStore(database).find(comparison.id));
    if (can_matter) text << "  " << *can_matter << " commits can matter\n";
    TW_TRY(const auto verdicts, storage::verdicts_of(database, comparison.id));
    for (const auto& verdict : verdicts) {
      text << "  " << to_string(verdict.series) << ": " << to_string(verdict.verdict) << "\n";
    }
    TW_TRY(const auto found, incidents.of_comparison(comparison.id));
    for (const auto& incident : found) {
      TW_TRY(const auto messages, outbox.of_incident(incident.id));
      text << "  incident " << incident.key << ", " << messages.size() << " messages\n";
    }
  }
  TW_TRY(const auto bisections, storage::BisectionStore(database).list(100));
  for (const auto& bisection : bisections) {
    TW_TRY(const auto result, bisection::parse_bisection_result(bisection.result_json));
    text << "search " << bisection.good << ".." << bisection.bad << ": " << spelling(result.outcome)
         << " " << result.culprit().value_or("none") << "\n";
  }
  return text.str();
}

}  // namespace torchwatch::test
