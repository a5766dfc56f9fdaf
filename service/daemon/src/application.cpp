#include "torchwatch/daemon/application.hpp"

#include <unistd.h>

#include <filesystem>

#include "build_settings.hpp"
#include "executors.hpp"
#include "logged.hpp"
#include "torchwatch/builds/last_use.hpp"
#include "torchwatch/channel/actions_builds.hpp"
#include "torchwatch/channel/artifacts.hpp"
#include "torchwatch/comparison/external_workloads.hpp"
#include "torchwatch/comparison/plan.hpp"
#include "torchwatch/daemon/confinement.hpp"
#include "torchwatch/nightly/work_list.hpp"
#include "torchwatch/process/process.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/setback_store.hpp"
#include "torchwatch/storage/work_store.hpp"

namespace torchwatch::daemon {
namespace {

class KitRunners final : public comparison::RunnerSource {
 public:
  KitRunners(kits::KitStore& store, log::Logger logger)
      : store_(store), logger_(std::move(logger)) {}
  Result<kits::Kit> kit_for(const builds::Tree& tree, const std::vector<std::string>& workloads,
                            std::stop_token stop) override {
    auto kit = store_.kit_for(tree, workloads, stop);
    if (kit) {
      builds::note_use(kit->runner.parent_path());
      logger_.debug("runner ready", {{"build", tree.folder.string()}});
    } else {
      logger_.warning("runner cannot be built: " + kit.error().text(),
                      {{"build", tree.folder.string()}});
    }
    return kit;
  }
  Result<std::vector<std::string>> workloads() const override { return store_.workloads(); }

 private:
  kits::KitStore& store_;
  const log::Logger logger_;
};

/// For one build; what it needs of CUDA is 3 GB more.
std::chrono::seconds time_limit_of_fetch(bool for_cuda) {
  return std::chrono::hours(for_cuda ? 4 : 1);
}

Status make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return {};
  return fail(ErrorCode::unavailable,
              "cannot make folder " + folder.string() + ": " + error.message());
}

}  // namespace

channel::WheelIndexSettings index_settings(const config::Config& config,
                                           const sandbox::Sandbox& sandbox) {
  const bool for_cuda = comparison::measures_cuda(config);
  return {.program = source_folder(config) / "deploy" / "libtorch",
          .cache = config.build.cache / "releases",
          .index = config.channel.index,
          .has_archives = config.channel.kind == config::ChannelKind::archive,
          .flavour = config.channel.flavour,
          .for_cuda = for_cuda,
          .with_python = config.channel.python,
          .since = config.channel.since,
          .time_limit = time_limit_of_fetch(for_cuda),
          .disk_reserve_bytes = config.build.disk_reserve_bytes,
          .sandbox = sandbox};
}

struct Application::Parts {
  Parts(config::Config from, comparison::Progress& shown, log::Log& to,
        const platform::Clock* given = nullptr)
      : config(std::move(from)),
        log(to),
        clock(given == nullptr ? system_clock : *given),
        activity(clock),
        progress(shown, to.logger("pipeline"), activity) {}

  config::Config config;
  log::Log& log;
  Access access = Access::work;
  platform::SystemClock system_clock;
  const platform::Clock& clock;
  health::Activity activity;
  LoggedProgress progress;
  platform::SystemRandom random;
  std::unique_ptr<storage::Database> database;
  std::unique_ptr<process::ProcessRunner> processes;
  Confinement confinement;
  std::optional<executor::MachineLock> machine_lock;
  std::optional<Executors> executors;
  std::optional<kits::KitStore> kits;
  std::optional<KitRunners> runners;
  std::optional<packages::PackageStore> packages;
  std::optional<comparison::SuiteRunners> suite;  ///< those, with the external workloads
  std::optional<source::Clone> clone;
  std::optional<bisect::CommitHistory> history;
  std::optional<builds::CommitBuilder> commits;
  std::optional<pulls::HeadBuilds> pull_builds;
  GithubAccess github{config, clock, log};
  std::unique_ptr<channel::Channel> channel;
  std::unique_ptr<channel::Channel> releases;
  signals::Interrupts interrupts;
  std::optional<comparison::Services> services;

  Status open_database() {
    if (access == Access::read) {
      TW_TRY(database, open_reader(config));
      return {};
    }
    if (access == Access::change) {
      TW_TRY(database,
             storage::Database::open({.path = config.storage.path, .beside_writer = true}));
      return {};
    }
    TW_TRY_VOID(make_folder(config.storage.path.parent_path()));
    TW_TRY(database, storage::Database::open({.path = config.storage.path}));
    return database->transact([&] { return note_what_was_left(clock.wall_now()); });
  }

  /// Whoever works on the database next counts what the last one died of, be it a short command.
  Status note_what_was_left(storage::WallMillis now) {
    TW_TRY(const int runs, storage::RunStore(*database).abandon_leftovers(now));
    TW_TRY(const auto left, storage::WorkStore(*database).take_left());
    // A run that takes the service down counts for its slot, not for all that is measured. Nor
    // does what got further: else three power cuts would end a nightly.
    if (!left) return {};
    if (left->got_further) return storage::SetbackStore(*database).clear(left->key);
    return runs > 0 ? Status{} : nightly::note_downfall_of(*database, left->key, now);
  }

  /// The database's path names the owner of the children: a daemon that was killed left them to the
  /// next one on the same database, which ends them before anything is measured. Who reads or
  /// stores a change beside it has no next one.
  std::string owner_of_children() const {
    const auto owner = config.storage.path.string();
    if (access == Access::work) return owner;
    return owner + " (used by process " + std::to_string(getpid()) + ")";
  }

  Status open_source() {
    if (config.source.repository.empty()) return {};
    const auto folder = repository_folder(config);
    if (is_cloned(config)) {
      TW_TRY(clone, source::Clone::open({.address = config.source.repository,
                                         .branch = config.source.branch,
                                         .folder = folder},
                                        *processes));
    }
    auto opened = bisect::CommitHistory::open(folder);
    if (!opened) return fail(opened.error().within("[source] repository"));
    history.emplace(std::move(*opened));
    return {};
  }

  Status open_commit_builds() {
    if (!history || config.build.recipe.empty()) return {};
    const bool has_recipe = !config::is_built_by_actions(config);
    std::error_code error;
    if (has_recipe && !std::filesystem::exists(config.build.recipe, error)) {
      return fail(ErrorCode::not_found,
                  "[build] recipe: no such file: " + config.build.recipe.string());
    }
    auto settings = commit_settings(config, confinement.sandbox);
    if (!has_recipe) {
      settings.remote = channel::make_actions_builds(
          actions_settings(config, confinement.sandbox, log), *processes);
    }
    if (!config.build.artifacts.empty()) {
      const bool for_cuda = comparison::measures_cuda(config);
      settings.artifacts =
          channel::make_artifacts({.program = source_folder(config) / "deploy" / "libtorch",
                                   .folder = settings.folder,
                                   .address = config.build.artifacts,
                                   .for_cuda = for_cuda,
                                   .with_python = config.channel.python,
                                   .time_limit = time_limit_of_fetch(for_cuda),
                                   .disk_reserve_bytes = config.build.disk_reserve_bytes,
                                   .sandbox = confinement.sandbox},
                                  *processes);
    }
    auto* const jobs = executors->build_jobs();
    commits.emplace(std::move(settings), jobs != nullptr ? *jobs : *processes,
                    [repository = repository_folder(config), logger = log.logger("builds")](
                        const std::string& commit, const std::filesystem::path& folder) {
                      logger.info("building a commit", {{"commit", commit}});
                      return bisect::check_out(repository, commit, folder);
                    });
    return {};
  }

  void open_pull_builds(comparison::RunnerSource* given) {
    if (!commits) return;
    pull_builds.emplace(config, *runners, *processes,
                        pulls::HeadBuilds::Settings{
                            .kit_sources = source_folder(config),
                            .sandbox = confinement.sandbox,
                            .checkout =
                                [repository = repository_folder(config)](
                                    const std::string& commit, const std::filesystem::path& to) {
                                  return bisect::check_out(repository, commit, to);
                                },
                            .runners = given});
  }

  /// The access to the repository with the pull requests. The token is read anew each time.
  void open_channels() {
    auto wheels = index_settings(config, confinement.sandbox);
    const auto logged = [this](std::unique_ptr<channel::Channel> plain) {
      return std::make_unique<LoggedChannel>(std::move(plain), log.logger("channel"), activity);
    };
    const auto& of = config.channel;
    channel = logged(of.kind == config::ChannelKind::directory
                         ? channel::make_directory_channel(of.path)
                         : channel::make_wheel_index_channel(wheels, *processes));
    wheels.index = wheels.flavour = wheels.since = "";
    wheels.has_archives = false;
    releases = logged(channel::make_wheel_index_channel(wheels, *processes));
  }
};

Application::Application(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Application::~Application() = default;

Result<std::unique_ptr<Application>> Application::open(config::Config config,
                                                       comparison::Progress& progress,
                                                       log::Log& log,
                                                       comparison::RunnerSource* runners,
                                                       const platform::Clock* clock) {
  return assemble(std::make_unique<Parts>(std::move(config), progress, log, clock), runners);
}

Result<std::unique_ptr<Application>> Application::open_beside(config::Config config, Access access,
                                                              comparison::Progress& progress,
                                                              log::Log& log) {
  auto parts = std::make_unique<Parts>(std::move(config), progress, log);
  parts->access = access;
  return assemble(std::move(parts), nullptr);
}

Result<std::unique_ptr<Application>> Application::assemble(std::unique_ptr<Parts> parts,
                                                           comparison::RunnerSource* runners) {
  TW_TRY_VOID(parts->open_database());
  TW_TRY_VOID(make_folder(parts->config.executor.scratch));
  TW_TRY_VOID(make_folder(parts->config.build.cache));
  parts->processes = std::make_unique<LoggedProcesses>(
      process::make_process_runner(parts->owner_of_children()), parts->log.logger("process"));
  TW_TRY(parts->confinement, open_sandbox(parts->config, *parts->processes));
  if (const auto& problem = parts->confinement.problem; !problem.empty()) {
    parts->log.logger("sandbox").warning(problem);
  }
  TW_TRY(parts->executors, Executors::open(parts->config, parts->confinement.sandbox,
                                           *parts->processes, parts->clock, parts->log));
  parts->kits.emplace(kit_settings(parts->config, parts->confinement.sandbox), *parts->processes);
  parts->runners.emplace(*parts->kits, parts->log.logger("builds"));
  parts->packages.emplace(package_settings(parts->config, parts->confinement.sandbox),
                          *parts->processes);
  TW_TRY_VOID(parts->open_source());
  TW_TRY_VOID(parts->open_commit_builds());
  parts->open_pull_builds(runners);
  parts->open_channels();
  parts->suite.emplace(runners != nullptr ? *runners : *parts->runners, parts->config);
  parts->services.emplace(
      comparison::Services{.config = parts->config,
                           .database = *parts->database,
                           .executor = parts->executors->chosen(),
                           .runners = *parts->suite,
                           .channel = *parts->channel,
                           .history = parts->history ? &*parts->history : nullptr,
                           .commits = parts->commits ? &*parts->commits : nullptr,
                           .clock = parts->clock,
                           .random = parts->random,
                           .progress = parts->progress,
                           .releases = parts->releases.get(),
                           .source = parts->clone ? &*parts->clone : nullptr,
                           .interrupts = &parts->interrupts,
                           .lanes = parts->executors->lanes(),
                           .packages = &*parts->packages});
  return std::unique_ptr<Application>(new Application(std::move(parts)));
}

comparison::Services& Application::services() {
  return *parts_->services;
}
caches::Parts cache_parts(Application& application) {
  auto& services = application.services();
  return {
      .database = services.database, .config = application.config(), .commits = services.commits};
}

const config::Config& Application::config() const {
  return parts_->config;
}
bool Application::is_reader() const {
  return parts_->access == Access::read;
}
log::Log& Application::log() {
  return parts_->log;
}
channel::Channel& Application::releases() {
  return *parts_->releases;
}
process::ProcessRunner& Application::processes() {
  return *parts_->processes;
}
health::Activity& Application::activity() {
  return parts_->activity;
}
const sandbox::Sandbox& Application::sandbox() const {
  return parts_->confinement.sandbox;
}

GithubAccess& Application::github() {
  return parts_->github;
}

pulls::PullParts Application::pull_parts() {
  return {.services = *parts_->services,
          .heads = parts_->pull_builds ? &*parts_->pull_builds : nullptr,
          .http = parts_->github.http(),
          .github = [parts = parts_.get()] { return parts->github.settings_of_commits(); }};
}

Status Application::lock_machine() {
  auto* const local = parts_->executors->local();
  // A node's lock is taken there, for each run.
  if (parts_->machine_lock || local == nullptr) return {};
  TW_TRY(parts_->machine_lock,
         executor::MachineLock::acquire(parts_->config.executor.machine_lock));
  // What an ended run left and cannot be removed keeps nothing from being measured.
  if (const auto swept = local->sweep(); !swept) {
    parts_->log.logger("executor").warning(swept.error().text());
  }
  return {};
}

void Application::unlock_machine() {
  parts_->machine_lock.reset();
}

Result<std::vector<std::string>> suite_workloads(const config::Config& config) {
  const auto processes = process::make_process_runner("names of workloads");
  TW_TRY(auto names, kits::KitStore(kit_settings(config, {}), *processes).workloads());
  return comparison::with_externals(config, std::move(names));
}

Status require_database(const config::Config& config) {
  std::error_code error;
  const bool is_there = std::filesystem::exists(config.storage.path, error);
  if (error) {
    return fail(ErrorCode::unavailable,
                "database " + config.storage.path.string() + ": " + error.message());
  }
  if (is_there) return {};
  const auto* const why = config.file.empty() ? " (there is no torchwatch.toml here, so the "
                                                "defaults are used; --config names another)"
                                              : "";
  return fail(ErrorCode::not_found, "no database at " + config.storage.path.string() + why,
              "`torchwatch nightly`, `compare` or `serve` makes it");
}

Result<std::unique_ptr<storage::Database>> open_reader(const config::Config& config) {
  TW_TRY_VOID(require_database(config));
  return storage::Database::open({.path = config.storage.path, .read_only = true});
}

}  // namespace torchwatch::daemon
