#include <gnu/libc-version.h>

#include <cmath>
#include <cstdlib>

#include "finding.hpp"
#include "torchwatch/cluster/look.hpp"
#include "torchwatch/config/classes.hpp"
#include "torchwatch/daemon/cluster_settings.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/process/process.hpp"

namespace torchwatch::checks {
namespace {

/// "2.36" as {2, 36}.
std::pair<int, int> version_of(const std::string& text) {
  const auto dot = text.find('.');
  const auto minor = dot == std::string::npos ? "0" : text.substr(dot + 1);
  return {std::atoi(text.c_str()), std::atoi(minor.c_str())};
}

CheckResult check_clock(const orders::NodeLook& look, std::int64_t now_ms) {
  constexpr double kMsPerSecond = 1000;
  constexpr double kApartMax = 60;
  const auto apart = std::abs(static_cast<double>(look.wall_ms - now_ms)) / kMsPerSecond;
  const auto found = std::to_string(static_cast<int>(apart)) + " s apart from here";
  if (apart <= kApartMax) return bad(Severity::good, "clock of the node", found, "");
  return bad(Severity::warning, "clock of the node", found,
             "set both by NTP: Slurm refuses nodes that are minutes apart");
}

CheckResult check_versions(const orders::NodeLook& look, const std::string& own_version) {
  const auto found = "torchwatch-carry " + look.version + ", glibc " + look.glibc;
  if (look.version != own_version) {
    return bad(Severity::error, "versions on the node", found,
               "let [slurm] program be that of this torchwatch, " + own_version);
  }
  const std::string glibc = gnu_get_libc_version();
  if (version_of(look.glibc) < version_of(glibc)) {
    return bad(Severity::error, "versions on the node", found,
               "kits are compiled here with glibc " + glibc + ", so the nodes need that");
  }
  return bad(Severity::good, "versions on the node", found, "");
}

CheckResult check_folders(const orders::NodeLook& look) {
  if (!look.unseen.empty()) {
    return bad(Severity::error, "folders on the node", "it does not see " + look.unseen.front(),
               "let it lie in a folder that nodes see under the same path, or set [slurm] copies "
               "= true");
  }
  if (!look.scratch_problem.empty()) {
    return bad(Severity::error, "folders on the node", look.scratch_problem,
               "set [slurm] node_scratch to a folder of the node's own disk");
  }
  return bad(Severity::good, "folders on the node", "all seen", "");
}

CheckResult check_sandbox(const orders::NodeLook& look, config::SandboxKind kind) {
  const char* const what = "sandbox on the node";
  if (kind == config::SandboxKind::none) return bad(Severity::good, what, "not wanted", "");
  if (look.has_sandbox) return bad(Severity::good, what, "bubblewrap works", "");
  const bool is_needed = kind == config::SandboxKind::bubblewrap;
  return bad(is_needed ? Severity::error : Severity::warning, what, "bubblewrap does not work",
             "install bubblewrap on the nodes and allow user namespaces");
}

/// What nodes must see under the same path.
std::vector<std::filesystem::path> seen_by(const config::Config& config) {
  std::vector<std::filesystem::path> paths;
  if (!config.slurm.copies || config.slurm.builds) paths.push_back(config.build.cache);
  const bool is_folder = config.channel.kind == config::ChannelKind::directory;
  if (is_folder && !config.slurm.copies) paths.push_back(config.channel.path);
  return paths;
}

std::vector<CheckResult> check_class(const config::Config& config, const config::SlurmClass& of,
                                     process::ProcessRunner& processes) {
  constexpr std::chrono::seconds kPatience{30};
  const platform::SystemClock clock;
  auto settings = daemon::settings_of_look(config, of, kPatience);
  settings.options.push_back("--immediate=" + std::to_string(kPatience.count()));
  const auto look =
      cluster::look_at_node(processes, clock, settings, config.slurm.node_scratch, seen_by(config));
  if (look) {
    const auto own = orders::own_version();
    return check_node(*look, clock.wall_now(), own, config.sandbox.kind);
  }
  const auto why = look.error().text();
  const bool is_waiting = why.find("nodes are busy") != std::string::npos ||
                          why.find("Immediate execution") != std::string::npos;
  return {bad(is_waiting ? Severity::unknown : Severity::error, "a node of the cluster",
              is_waiting ? "none came within 30 s" : why,
              "`squeue` and `sinfo` say what the cluster does; see [slurm] and docs/cluster.md")};
}

}  // namespace

std::vector<CheckResult> check_node(const orders::NodeLook& look, std::int64_t now_ms,
                                    const std::string& own_version, config::SandboxKind kind) {
  return {bad(Severity::good, "a node of the cluster", look.node + " came", ""),
          check_folders(look), check_versions(look, own_version), check_clock(look, now_ms),
          check_sandbox(look, kind)};
}

std::vector<CheckResult> check_cluster(const config::Config& config) {
  if (config.executor.kind != config::ExecutorKind::slurm) return {};
  const auto processes = process::make_process_runner("check " + config.storage.path.string());
  std::vector<CheckResult> results;
  for (const auto& of : config::slurm_classes(config)) {
    for (auto& result : check_class(config, of, *processes)) {
      if (!of.name.empty()) result.what = "class " + of.name + ": " + result.what;
      results.push_back(std::move(result));
    }
  }
  return results;
}

}  // namespace torchwatch::checks
