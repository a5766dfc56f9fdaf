#include "torchwatch/daemon/resolve.hpp"

#include <algorithm>
#include <filesystem>

#include "torchwatch/comparison/build_preparer.hpp"
#include "torchwatch/nightly/source_commits.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/requests/names.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::daemon {
namespace {

using storage::BuildOrigin;
using storage::BuildRow;

Result<BuildRow> known(Application& application, BuildOrigin origin, const channel::Offer& offer,
                       const builds::Tree& tree) {
  auto& services = application.services();
  const auto trunk_commit = nightly::trunk_commit_of(services, tree);
  if (application.is_reader()) {
    BuildRow row;
    row.origin = origin;
    row.name = offer.name;
    return comparison::described(std::move(row), tree, trunk_commit);
  }
  TW_TRY(auto row, storage::BuildStore(services.database).discover(origin, offer.name));
  row.fingerprint = offer.fingerprint;
  return comparison::mark_ready(services, std::move(row), tree, trunk_commit);
}

/// The commit of [source] that a person means; nothing if commits cannot be built here, or there is
/// no such commit. Errors: of fetching it.
Result<std::optional<std::string>> buildable_commit(Application& application,
                                                    const std::string& text, std::stop_token stop) {
  auto& services = application.services();
  const bool can_build = services.history != nullptr && services.commits != nullptr;
  if (!can_build || application.is_reader()) return std::nullopt;
  auto commit = nightly::find_trunk_commit(services, text, std::move(stop));
  if (commit) return *std::move(commit);
  const auto code = commit.error().code;
  if (code == ErrorCode::not_found || code == ErrorCode::invalid) return std::nullopt;
  return fail(commit.error());
}

using Offers = std::vector<channel::Offer>;

/// The nightly of that name, brought here; nothing where the channel lists none. Errors: of
/// fetching it, of storage.
Result<std::optional<BuildRow>> nightly_among(Application& application, const Offers& listed,
                                              const std::string& name, std::stop_token stop) {
  const auto offer = std::ranges::find(listed, name, &channel::Offer::name);
  if (offer == listed.end()) return std::nullopt;
  TW_TRY(const auto tree, application.services().channel.fetch(*offer, std::move(stop)));
  TW_TRY(auto row, known(application, BuildOrigin::nightly, *offer, tree));
  return std::optional(std::move(row));
}

constexpr std::size_t kCommitDigitsMin = 4;  ///< git abbreviates no further
constexpr std::size_t kCommitDigitsMax = 40;

}  // namespace

Result<BuildRow> published_build(Application& application, const std::string& text,
                                 std::stop_token stop) {
  auto& services = application.services();
  const auto offers = services.channel.list(stop);
  TW_TRY(auto found, nightly_among(application, offers.value_or(Offers{}), text, stop));
  if (found) return *std::move(found);
  // An index forgets its old ones.
  TW_TRY(const auto kept, requests::known_build(services.database, text));
  if (kept && kept->origin == BuildOrigin::nightly && kept->name == text) return *kept;
  if (requests::is_release(text)) {
    services.progress.phase_started("fetching release " + text);
    TW_TRY(const auto tree, application.releases().fetch({text}, stop));
    return known(application, BuildOrigin::release, {text}, tree);
  }
  // A channel that cannot be reached now may list it later.
  if (!offers) return fail(offers.error().within("build \"" + text + "\""));
  return fail(requests::unknown_build(text, requests::Asking::from_elsewhere));
}

Result<BuildRow> build_of_commit(comparison::Services& services, const std::string& commit,
                                 const std::string& base, std::stop_token stop) {
  TW_TRY(const auto known, services.runners.workloads());
  const auto& wanted = services.config.suite.workloads;
  comparison::BuildPreparer preparer(services, wanted.empty() ? known : wanted);
  std::optional<builds::Tree> tree;
  if (!base.empty()) {
    TW_TRY(tree, builds::inspect(base));
  }
  TW_TRY(const auto built, preparer.of_commit(commit, tree, stop));
  if (const auto* unbuildable = std::get_if<builds::Unbuildable>(&built)) {
    return fail(ErrorCode::invalid,
                "commit " + commit + " cannot be built: " + unbuildable->reason);
  }
  const auto id = std::get<comparison::MeasurableBuild>(built).build;
  return storage::BuildStore(services.database).get(id);
}

Result<BuildRow> resolve_build(Application& application, const std::string& text,
                               std::stop_token stop) {
  if (std::filesystem::is_directory(text)) {
    const auto folder = std::filesystem::canonical(text);
    TW_TRY(const auto tree, builds::inspect(folder));
    return known(application, BuildOrigin::folder, {.name = folder.string()}, tree);
  }
  auto published = published_build(application, text, stop);
  const bool is_published = published || published.error().code != ErrorCode::not_found;
  auto& services = application.services();
  TW_TRY(const auto stored, requests::known_build(services.database, text));
  if (is_published && (published || !stored)) return published;
  if (stored) return *stored;
  TW_TRY(const auto commit, buildable_commit(application, text, stop));
  if (commit) return build_of_commit(services, *commit, "", stop);
  return fail(requests::missing_build(services.database, text));
}

Result<std::string> resolve_commit(Application& application, const std::string& text,
                                   std::stop_token stop) {
  auto& services = application.services();
  if (services.history == nullptr) {
    return fail(ErrorCode::invalid,
                "commits cannot be searched: set [source] repository in the configuration");
  }
  storage::BuildStore store(services.database);
  TW_TRY(const auto rows, store.list());
  const auto named = std::ranges::find_if(rows, [&](const BuildRow& row) {
    return row.name == text && row.origin == BuildOrigin::nightly && !row.trunk_commit.empty();
  });
  if (named != rows.end()) return named->trunk_commit;
  auto commit = nightly::find_trunk_commit(services, text, stop);
  if (commit || commit.error().code != ErrorCode::not_found) return commit;
  const auto offers = services.channel.list(stop);
  // A channel that cannot be reached now may list it later, but no nightly is called like a commit.
  if (!offers && !is_hex(text, kCommitDigitsMin, kCommitDigitsMax)) return fail(offers.error());
  TW_TRY(const auto found,
         nightly_among(application, offers.value_or(Offers{}), text, std::move(stop)));
  if (found && !found->trunk_commit.empty()) return found->trunk_commit;
  return commit;
}

Result<std::string> commit_on_branch(Application& application, const std::string& text,
                                     std::stop_token stop) {
  auto& services = application.services();
  TW_TRY(auto sha, resolve_commit(application, text, std::move(stop)));
  const auto& branch = services.config.source.branch;
  const auto position = services.history->position(sha, branch);
  if (position) return sha;
  return fail(ErrorCode::invalid, "commit \"" + text + "\" is not on branch " + branch +
                                      ": only its commits are built for a request");
}

}  // namespace torchwatch::daemon
