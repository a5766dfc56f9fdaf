#include "torchwatch/daemon/confinement.hpp"

#include <cstdlib>

#include "database_upkeep.hpp"

namespace torchwatch::daemon {
namespace {

constexpr const char* kConsequence =
    "recipes, compilers and runs are not confined: whoever lands a commit or publishes a build can "
    "do all that the service may do";

}  // namespace

sandbox::Settings sandbox_settings(const config::Config& config) {
  sandbox::Settings settings;
  settings.readable = config.sandbox.readable;
  settings.link_targets = {config.build.cache, config.channel.path, config.executor.scratch};
  settings.hidden = config::secret_files(config);
  settings.hidden.push_back(config.file);
  settings.hidden.push_back(config::control_socket(config));
  settings.hidden_with_copies = {config.storage.path,
                                 config::backups_folder(config) / kBackupsBegin};
  const char* const path = std::getenv("PATH");
  settings.search_path = path == nullptr ? process::kDefaultSearchPath : path;
  return settings;
}

Result<Confinement> open_sandbox(const config::Config& config, process::ProcessRunner& processes) {
  using config::SandboxKind;
  if (config.sandbox.kind == SandboxKind::none) {
    return Confinement{{}, std::string("[sandbox] kind = \"none\": ") + kConsequence};
  }
  auto sandbox = sandbox::Sandbox::open(sandbox_settings(config), processes);
  if (sandbox) return Confinement{std::move(*sandbox), ""};
  if (config.sandbox.kind == SandboxKind::bubblewrap) {
    return fail(sandbox.error().within("[sandbox] kind is bubblewrap"));
  }
  return Confinement{{}, "no sandbox: " + sandbox.error().text() + "; " + kConsequence};
}

}  // namespace torchwatch::daemon
