#include <unistd.h>

#include "finding.hpp"
#include "torchwatch/channel/channel.hpp"
#include "torchwatch/daemon/application.hpp"
#include "torchwatch/daemon/confinement.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/history/commit_history.hpp"
#include "torchwatch/platform/passing_folder.hpp"
#include "torchwatch/process/process.hpp"
#include "torchwatch/records/hex.hpp"

namespace torchwatch::checks {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kListingLimit{120};
constexpr std::chrono::seconds kAnswerLimit{20};
constexpr std::string_view kCommit = "{commit}";
constexpr const char* kNotMeanwhile =
    "correct the address or mend the server: until then the recipe builds every commit";

constexpr const char* kIndex = "[channel] index";
constexpr const char* kArtifacts = "[build] artifacts";

Result<std::vector<channel::Offer>> builds_listed(const config::Config& config) {
  const auto processes = process::make_process_runner("torchwatch check of an index, process " +
                                                      std::to_string(getpid()));
  const auto confinement = daemon::open_sandbox(config, *processes);
  // What keeps the sandbox from working is a finding of its own.
  auto settings =
      daemon::index_settings(config, confinement ? confinement->sandbox : sandbox::Sandbox{});
  TW_TRY(const auto folder, platform::PassingFolder::make());
  settings.cache = folder.path();
  settings.time_limit = kListingLimit;
  return channel::make_wheel_index_channel(settings, *processes)->list({});
}

CheckResult check_index(const config::Config& config) {
  if (config.channel.index.empty()) {
    return bad(Severity::unknown, kIndex, "the one of pip's own settings, which was not asked",
               "`torchwatch build fetch 2.13.0` shows whether it works");
  }
  const auto listed = builds_listed(config);
  if (!listed) {
    const auto& remedy = listed.error().remedy;
    return bad(Severity::error, kIndex, listed.error().message,
               remedy.empty() ? "set it to the address of an index that has torch, and try again"
                              : remedy);
  }
  if (listed->empty()) {
    return bad(Severity::warning, kIndex, "it lists no build",
               "see [channel] since and flavour: there is nothing to compare");
  }
  return good(kIndex, "it lists " + figures::count(listed->size(), "build") + ", the newest " +
                          listed->back().name);
}

/// The newest commit of the branch; empty where it is not known here.
std::string newest_commit(const config::Config& config) {
  const auto history = bisect::CommitHistory::open(config::repository_folder(config));
  return history ? history->resolve(config.source.branch).value_or("") : "";
}

CheckResult check_artifacts_folder(const std::string& address) {
  const auto fixed = address.substr(0, address.find(kCommit));
  const fs::path folder = fixed.substr(0, fixed.rfind('/') + 1);
  if (fs::is_directory(folder)) {
    return good(kArtifacts, "the folder " + folder.string() + " is there");
  }
  return bad(Severity::error, kArtifacts, "there is no folder " + folder.string(), kNotMeanwhile);
}

/// What the server answers about one commit, `tip` where that is known.
CheckResult found_by(int status, const std::string& tip, const std::string& branch) {
  constexpr int kOk = 200;
  constexpr int kNotFound = 404;
  if (status == kOk && !tip.empty()) return good(kArtifacts, "it has a build of " + short_sha(tip));
  if (status != kOk && status != kNotFound) {
    return bad(Severity::error, kArtifacts, "it answers " + std::to_string(status), kNotMeanwhile);
  }
  return bad(Severity::unknown, kArtifacts,
             tip.empty() ? "it answers; which commits it should have is not known here"
                         : "it answers, and has no build of " + short_sha(tip) +
                               ", the newest commit of " + branch,
             "open the address of a commit that it should have, with .sha256 behind it");
}

}  // namespace

CheckResult check_channel(const config::Config& config) {
  if (config.channel.kind != config::ChannelKind::directory) return check_index(config);
  if (fs::is_directory(config.channel.path)) return check_builds(config.channel.path);
  return bad(Severity::error, "[channel] path",
             "there is no folder " + config.channel.path.string(),
             "set [channel] path to the folder with one LibTorch tree a nightly");
}

CheckResult check_artifacts(const config::Config& config, platform::HttpClient& client) {
  auto address = config.build.artifacts;
  if (address.empty()) return good(kArtifacts, "not set");
  if (address.starts_with('/')) return check_artifacts_folder(address);
  const auto tip = newest_commit(config);
  const auto commit = tip.empty() ? std::string(40, '0') : tip;
  for (auto at = address.find(kCommit); at != std::string::npos; at = address.find(kCommit)) {
    address.replace(at, kCommit.size(), commit);
  }
  platform::HttpRequest request;
  request.method = "GET";
  request.url = address + ".sha256";
  request.time_limit = kAnswerLimit;
  const auto answer = client.send(request);
  if (!answer) return bad(Severity::error, kArtifacts, answer.error().text(), kNotMeanwhile);
  return found_by(answer->status, tip, config.source.branch);
}

}  // namespace torchwatch::checks
