#include "executors.hpp"

#include "torchwatch/config/classes.hpp"
#include "torchwatch/daemon/application.hpp"
#include "torchwatch/daemon/cluster_settings.hpp"
#include "torchwatch/daemon/confinement.hpp"
#include "torchwatch/platform/publish.hpp"

namespace torchwatch::daemon {
namespace {

namespace fs = std::filesystem;

executor::LocalExecutor::Settings local_settings(const config::Config& config,
                                                 const sandbox::Sandbox& sandbox) {
  executor::LocalExecutor::Settings settings;
  settings.environment = executor::device_environment();
  settings.sandbox = sandbox;
  settings.threads = config.measure.threads;
  settings.bind_to_cores = process::may_raise_priority();
  settings.output_limit_bytes = static_cast<std::size_t>(config.executor.output_limit_bytes);
  return settings;
}

std::string word_of(config::SandboxKind kind) {
  switch (kind) {
    case config::SandboxKind::bubblewrap:
      return "bubblewrap";
    case config::SandboxKind::none:
      return "none";
    default:
      return "auto";
  }
}

std::vector<std::string> texts_of(const std::vector<fs::path>& paths) {
  return {paths.begin(), paths.end()};
}

/// As on this machine: runs there and here see the same.
orders::CarrySettings carry_settings(const config::Config& config) {
  const auto confined = sandbox_settings(config);
  return {.scratch = config.slurm.node_scratch,
          .machine_lock = config.executor.machine_lock,
          .threads = config.measure.threads,
          .output_limit_bytes = config.executor.output_limit_bytes,
          .sandbox = word_of(config.sandbox.kind),
          .readable = texts_of(confined.readable),
          .link_targets = texts_of(confined.link_targets),
          .hidden = texts_of(confined.hidden),
          .hidden_with_copies = texts_of(confined.hidden_with_copies),
          .copies_limit_bytes = config.slurm.copies_limit_bytes};
}

std::vector<std::string> wishes(const config::SlurmClass& of) {
  std::vector<std::string> options = of.options;
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) options.push_back(option + value);
  };
  add("--partition=", of.partition);
  add("--constraint=", of.constraint);
  add("--gres=", of.gres);
  add("--account=", of.account);
  if (of.exclusive) options.emplace_back("--exclusive");
  return options;
}

fs::path carry_program(const config::Config& config) {
  if (!config.slurm.program.empty()) return config.slurm.program;
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path() / "torchwatch-carry";
}

/// What begins the names of the service's jobs.
std::string service_name(const config::Config& config) {
  const auto lane = cluster::lane_name(config.storage.path);
  return lane.substr(0, lane.rfind('-'));
}

/// What all lanes have in common, with what each class says for itself.
std::vector<cluster::LaneClass> lane_classes(const config::Config& config,
                                             const cluster::SlurmExecutor::Settings& common) {
  std::vector<cluster::LaneClass> classes;
  for (const auto& of : config::slurm_classes(config)) {
    auto settings = common;
    settings.name = cluster::lane_name(config.storage.path, of.name);
    settings.options = wishes(of);
    settings.time = of.time;
    classes.push_back({.name = of.name,
                       .configurations = of.configurations,
                       .settings = std::move(settings),
                       .count = of.lanes});
  }
  return classes;
}

}  // namespace

std::string job_prefix(const config::Config& config) {
  return service_name(config) + "-";
}

cluster::JobRunner::Settings settings_of_look(const config::Config& config,
                                              const config::SlurmClass& machine_class,
                                              std::chrono::seconds queue_limit) {
  cluster::JobRunner::Settings settings;
  settings.name = service_name(config);
  settings.options = wishes(machine_class);
  settings.program = carry_program(config);
  settings.queue_limit = queue_limit;
  return settings;
}

Result<Executors> Executors::open(const config::Config& config, const sandbox::Sandbox& sandbox,
                                  process::ProcessRunner& processes, const platform::Clock& clock,
                                  log::Log& log) {
  Executors made;
  if (config.executor.kind == config::ExecutorKind::local) {
    made.local_ = std::make_unique<executor::LocalExecutor>(processes, config.executor.scratch,
                                                            local_settings(config, sandbox));
    return made;
  }
  constexpr std::size_t kScriptBytesMax = 64U << 10U;
  cluster::SlurmExecutor::Settings settings;
  TW_TRY(
      settings.lane_script,
      platform::read_file(source_folder(config) / "deploy" / "cluster" / "lane", kScriptBytesMax));
  settings.program = carry_program(config);
  settings.idle = config.slurm.idle;
  settings.queue_limit = config.slurm.queue_limit;
  settings.copies = config.slurm.copies;
  settings.carry = carry_settings(config);
  settings.log = [logger = log.logger("cluster")](const std::string& text) { logger.info(text); };
  made.slurm_ =
      std::make_unique<cluster::SlurmLanes>(processes, clock, lane_classes(config, settings));
  if (config.slurm.builds) made.open_build_jobs(config, processes, clock, log);
  return made;
}

void Executors::open_build_jobs(const config::Config& config, process::ProcessRunner& processes,
                                const platform::Clock& clock, log::Log& log) {
  cluster::JobRunner::Settings settings;
  settings.name = service_name(config);
  settings.options = config.slurm.build_options;
  settings.program = carry_program(config);
  settings.queue_limit = config.slurm.queue_limit;
  settings.uses_all_cores = config.build.jobs == 0;
  settings.log = [logger = log.logger("cluster")](const std::string& text) { logger.info(text); };
  build_jobs_ = std::make_unique<cluster::JobRunner>(processes, clock, std::move(settings));
}

executor::Executor& Executors::chosen() {
  if (slurm_) return slurm_->first_lanes();
  return *local_;
}

}  // namespace torchwatch::daemon
