#include "torchwatch/daemon/session.hpp"

#include <filesystem>

#include "source_folder.hpp"
#include "torchwatch/doors/process.hpp"
#include "torchwatch/executor/local_executor.hpp"
#include "torchwatch/storage/run_store.hpp"

namespace torchwatch::daemon {
namespace {

class KitRunners final : public nightly::RunnerSource {
 public:
  explicit KitRunners(builds::KitStore& store) : store_(store) {}
  Result<builds::Kit> kit_for(const builds::Tree& tree, const std::vector<std::string>& workloads,
                              std::stop_token stop) override {
    return store_.kit_for(tree, workloads, stop);
  }
  Result<std::vector<std::string>> workloads() const override { return store_.workloads(); }

 private:
  builds::KitStore& store_;
};

builds::KitStore::Settings kit_settings(const config::Config& config) {
  builds::KitStore::Settings settings;
  settings.sources = config.build.kit_sources.empty() ? std::filesystem::path(kSourceFolder)
                                                      : config.build.kit_sources;
  settings.folder = config.build.cache / "kits";
  settings.jobs = config.build.jobs;
  settings.output_limit_bytes = static_cast<std::size_t>(config.build.output_limit_bytes);
  return settings;
}

builds::CommitBuilder::Settings commit_settings(const config::Config& config) {
  builds::CommitBuilder::Settings settings;
  settings.recipe = config.build.recipe;
  settings.folder = config.build.cache / "commits";
  settings.size_limit_bytes = config.build.cache_limit_bytes;
  settings.time_limit = config.build.timeout;
  settings.output_limit_bytes = static_cast<std::size_t>(config.build.output_limit_bytes);
  settings.jobs = config.build.jobs;
  return settings;
}

Status make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return {};
  return fail(ErrorCode::unavailable,
              "cannot make folder " + folder.string() + ": " + error.message());
}

}  // namespace

struct Session::Parts {
  explicit Parts(config::Config from) : config(std::move(from)) {}

  config::Config config;
  doors::SystemClock clock;
  doors::SystemRandom random;
  std::unique_ptr<storage::Database> database;
  std::unique_ptr<doors::ProcessRunner> processes;
  std::optional<executor::MachineLock> machine_lock;
  std::optional<executor::LocalExecutor> executor;
  std::optional<builds::KitStore> kits;
  std::optional<KitRunners> runners;
  std::optional<bisect::CommitHistory> history;
  std::optional<builds::CommitBuilder> commits;
  std::unique_ptr<channel::Channel> channel;
  std::unique_ptr<channel::Channel> releases;
  std::optional<nightly::Workshop> workshop;

  Status open_database() {
    TW_TRY_VOID(make_folder(config.storage.path.parent_path()));
    TW_TRY(database, storage::Database::open({.path = config.storage.path}));
    TW_TRY(const int left, storage::RunStore(*database).abandoned_leftovers(clock.wall_now()));
    (void)left;
    return {};
  }

  Status open_source() {
    if (config.source.repository.empty()) return {};
    auto opened = bisect::CommitHistory::open(config.source.repository);
    if (!opened) return fail(opened.error().within("[source] repository"));
    history.emplace(std::move(*opened));
    return {};
  }

  Status open_commit_builds() {
    if (!history || config.build.recipe.empty()) return {};
    if (!std::filesystem::exists(config.build.recipe)) {
      return fail(ErrorCode::not_found,
                  "[build] recipe: there is no " + config.build.recipe.string());
    }
    commits.emplace(commit_settings(config), *processes,
                    [repository = config.source.repository](const std::string& commit,
                                                            const std::filesystem::path& folder) {
                      return bisect::check_out(repository, commit, folder);
                    });
    return {};
  }

  void open_channels() {
    channel::WheelIndexSettings wheels;
    wheels.cache = config.build.cache / "releases";
    releases = channel::make_wheel_index_channel(wheels, *processes);
    channel = config.channel.kind == config::ChannelKind::directory
                  ? channel::make_directory_channel(config.channel.path)
                  : channel::make_wheel_index_channel(wheels, *processes);
  }
};

Session::Session(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Session::~Session() = default;

Result<std::unique_ptr<Session>> Session::open(config::Config config, nightly::Progress& progress) {
  auto parts = std::make_unique<Parts>(std::move(config));
  TW_TRY_VOID(parts->open_database());
  TW_TRY_VOID(make_folder(parts->config.executor.scratch));
  TW_TRY_VOID(make_folder(parts->config.build.cache));
  // The database's path names the owner of the children: a daemon that was killed left them to the
  // next one on the same database, which ends them before anything is measured.
  parts->processes = doors::make_process_runner(parts->config.storage.path.string());
  executor::LocalExecutor::Settings settings;
  settings.threads = parts->config.measure.threads;
  settings.bind_threads = doors::may_raise_priority();
  settings.output_limit_bytes = static_cast<std::size_t>(parts->config.executor.output_limit_bytes);
  parts->executor.emplace(*parts->processes, parts->config.executor.scratch, settings);
  parts->kits.emplace(kit_settings(parts->config), *parts->processes);
  parts->runners.emplace(*parts->kits);
  TW_TRY_VOID(parts->open_source());
  TW_TRY_VOID(parts->open_commit_builds());
  parts->open_channels();
  parts->workshop.emplace(nightly::Workshop{
      parts->config, *parts->database, *parts->executor, *parts->runners, *parts->channel,
      parts->history ? &*parts->history : nullptr, parts->commits ? &*parts->commits : nullptr,
      parts->clock, parts->random, progress});
  return std::unique_ptr<Session>(new Session(std::move(parts)));
}

nightly::Workshop& Session::workshop() {
  return *parts_->workshop;
}
const config::Config& Session::config() const {
  return parts_->config;
}
channel::Channel& Session::releases() {
  return *parts_->releases;
}
doors::ProcessRunner& Session::processes() {
  return *parts_->processes;
}

Status Session::lock_machine() {
  if (parts_->machine_lock) return {};
  TW_TRY(parts_->machine_lock,
         executor::MachineLock::acquire(parts_->config.executor.machine_lock));
  return parts_->executor->sweep();
}

Result<std::unique_ptr<storage::Database>> open_reader(const config::Config& config) {
  if (!std::filesystem::exists(config.storage.path)) {
    return fail(ErrorCode::not_found,
                "there is no database at " + config.storage.path.string() +
                    " yet: `torchwatch nightly`, `compare` or `serve` makes it");
  }
  return storage::Database::open({.path = config.storage.path, .read_only = true});
}

}  // namespace torchwatch::daemon
