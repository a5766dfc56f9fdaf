#include "build_settings.hpp"

#include "torchwatch/comparison/plan.hpp"
#include "torchwatch/daemon/application.hpp"
#include "torchwatch/secrets/secrets.hpp"

namespace torchwatch::daemon {

kits::KitStore::Settings kit_settings(const config::Config& config,
                                      const sandbox::Sandbox& sandbox) {
  return {.sources = source_folder(config),
          .folder = config.build.cache / "kits",
          .jobs = config.build.jobs,
          .output_limit_bytes = static_cast<std::size_t>(config.build.output_limit_bytes),
          .sandbox = sandbox};
}

builds::CommitBuilder::Settings commit_settings(const config::Config& config,
                                                const sandbox::Sandbox& sandbox) {
  return {.recipe = config.build.recipe,
          .folder = config.build.cache / "commits",
          .size_limit_bytes = config.build.cache_limit_bytes,
          .time_limit = config.build.timeout,
          .output_limit_bytes = static_cast<std::size_t>(config.build.output_limit_bytes),
          .jobs = config.build.jobs,
          .sandbox = sandbox,
          .profile = {.readable = {},
                      .linked = {},
                      .writable = config.sandbox.writable,
                      .has_network = config.sandbox.recipe_network},
          .environment = config.sandbox.environment};
}

packages::PackageStore::Settings package_settings(const config::Config& config,
                                                  const sandbox::Sandbox& sandbox) {
  return {.program = source_folder(config) / "deploy" / "aot_inductor",
          .folder = config.build.cache / "packages",
          .threads = config.measure.threads,
          .memory_limit_bytes = config.measure.memory_limit_bytes,
          .sandbox = sandbox};
}

channel::ActionsSettings actions_settings(const config::Config& config,
                                          const sandbox::Sandbox& sandbox, log::Log& log) {
  const auto& own = config.actions.token_file;
  return {.program = source_folder(config) / "deploy" / "libtorch",
          .folder = config.build.cache / "commits",
          .api = config.github.api,
          .repository = config.actions.repository,
          .commits = config::commits_repository(config),
          .workflow = config.actions.workflow,
          .ref = config.actions.ref,
          .artifact = config.actions.artifact,
          .token = [file = own.empty() ? config.github.token_file : own,
                    &log]() -> Result<std::string> {
            TW_TRY(auto token, secrets::read_secret(file));
            log.hide(token);
            return token;
          },
          .for_cuda = comparison::measures_cuda(config),
          .with_python = config.channel.python,
          .time_limit = config.build.timeout,
          .disk_reserve_bytes = config.build.disk_reserve_bytes,
          .sandbox = sandbox};
}

}  // namespace torchwatch::daemon
