#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "torchwatch/cluster/look.hpp"
#include "torchwatch/config/config.hpp"
#include "torchwatch/platform/http_client.hpp"

namespace torchwatch::checks {

enum class Severity {
  good,
  unknown,  ///< cannot be seen from here: a guest does not see its host's clocks
  warning,  ///< works, but measures worse than it could
  error,    ///< a comparison would not reach its end
};

struct CheckResult {
  Severity severity = Severity::good;
  std::string what;
  std::string found;
  std::string remedy;  ///< what to do; empty where it is good
};

/// Checks this machine and everything that the configuration names; measures and changes nothing.
std::vector<CheckResult> check_all(const config::Config&);

/// Checks what makes times noisy on a machine, as its kernel shows it under `root` ("/" but in
/// tests). What is not shown there is unknown.
std::vector<CheckResult> check_machine(const std::filesystem::path& root);

/// Checks GPU, driver and CUPTI, as the driver shows them under `root`. Without a GPU they are
/// "none", which is an error only if `configurations` ask for one.
std::vector<CheckResult> check_gpu(const std::filesystem::path& root,
                                   const std::vector<Configuration>& configurations);

/// Checks that the workloads which `what` names are in the suite; naming none means all.
CheckResult check_suite(const std::vector<std::string>& named,
                        const std::vector<std::string>& known,
                        const std::string& what = "[suite] workloads");

/// Checks that the channel lists builds which this machine can have, and names the newest. The index
/// of pip's own settings is not asked.
CheckResult check_channel(const config::Config&);

/// Checks where [build] artifacts has builds of commits: that the folder is there, or that the
/// server answers for the newest commit of the branch.
CheckResult check_artifacts(const config::Config&, platform::HttpClient&);

/// Checks that the folder of [channel] path has builds, and names the folders that are none yet.
CheckResult check_builds(const std::filesystem::path& channel);

/// Checks that the file of [suite] inference_batches can be read and is of the preset.
CheckResult check_batches(const config::Config&);

/// Checks that the folder of [executor] machine_lock exists, where that is a path.
CheckResult check_lock(const std::string& lock);

/// Checks that the command of each [[suite.external]] can be started, and that the paths among its
/// arguments exist.
CheckResult check_externals(const config::Config&);

/// Checks the disks of [storage] path and [build] cache: an error below [build] disk_reserve, a
/// warning where releases and builds of commits do not fit.
CheckResult check_disk(const config::Config&);

/// Checks that pip starts as it does for a release: in the sandbox, without a home folder.
CheckResult check_pip(const config::Config&);

/// Checks that the address is one of this machine. One that others reach is a warning: answers and
/// tokens pass unencrypted.
CheckResult check_address(const std::string& address);

/// Checks what notices are sent with, and what is received: the secret of each webhook, sendmail
/// where there are mails, the secret of GitHub's webhook. Sends nothing.
std::vector<CheckResult> check_receivers(const config::Config&);

/// Asks GitHub who [github] makes us, what we may do, and how many requests are left. Unknown where
/// it cannot be asked.
std::vector<CheckResult> check_github(const config::Config&, platform::HttpClient&);

/// Has a node of each machine class look at itself, in a job of a moment: whether one comes, sees
/// the folders, has this version, the hour and a sandbox. Nothing where runs take place here.
std::vector<CheckResult> check_cluster(const config::Config&);
/// What is to be said of a node that has looked at itself at that time.
std::vector<CheckResult> check_node(const orders::NodeLook&, std::int64_t now_ms,
                                    const std::string& own_version, config::SandboxKind);

}  // namespace torchwatch::checks
