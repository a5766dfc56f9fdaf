#include "torchwatch/nightly/source_commits.hpp"

#include "torchwatch/nightly/attend.hpp"

namespace torchwatch::nightly {
namespace {

constexpr std::size_t kShaDigits = 40;

/// Fetches a commit that the clone lacks. Without it a nightly is compared as well, and only its
/// place among the others is not known: so whatever is wrong ends nothing.
void fetch_if_missing(const comparison::Services& services, const std::string& commit,
                      const std::string& what, std::stop_token stop) {
  if (services.history->commit(commit)) return;
  std::string reason = "[source] repository does not have it; fetch there what is new";
  if (services.source != nullptr) {
    const auto fetched = services.source->fetch(commit, std::move(stop));
    if (fetched) return;
    reason = fetched.error().text();
  }
  services.progress.log(what + " " + commit + " is missing: " + reason);
}

}  // namespace

Status fetch_source(comparison::Services& services, std::stop_token stop) {
  if (services.source == nullptr) return {};
  const auto fetched = services.source->refresh(std::move(stop));
  if (fetched) return {};
  const auto& error = fetched.error();
  const bool stops = consequence_of(error.code) == Consequence::stops;
  // The source has no end: whatever is wrong with it, it is fetched again later.
  return fail(error.as(stops ? error.code : ErrorCode::unavailable));
}

Result<std::string> find_trunk_commit(comparison::Services& services, const std::string& revision,
                                      std::stop_token stop) {
  const auto& history = *services.history;
  const auto is_fetched = [&](const Result<std::string>& commit) {
    const bool is_missing = !commit && commit.error().code == ErrorCode::not_found;
    return !is_missing || services.source == nullptr || !source::is_commit_name(revision);
  };
  auto found = history.trunk_commit(revision);
  if (is_fetched(found)) return found;
  TW_TRY_VOID(fetch_source(services, stop));
  found = history.trunk_commit(revision);
  // A server takes whole names alone.
  if (is_fetched(found) || revision.size() != kShaDigits) return found;
  TW_TRY_VOID(services.source->fetch(revision, std::move(stop)));
  return history.trunk_commit(revision);
}

std::string trunk_commit_of(const comparison::Services& services, const builds::Tree& tree,
                            std::stop_token stop) {
  if (services.history == nullptr) return tree.embedded_commit;
  const auto name = tree.folder.filename().string();
  fetch_if_missing(services, tree.embedded_commit, "commit of build " + name + ",", stop);
  const auto trunk = services.history->named_trunk_commit(tree.embedded_commit);
  if (!trunk) return tree.embedded_commit;
  fetch_if_missing(services, *trunk, "trunk commit of build " + name + ",", std::move(stop));
  return *trunk;
}

}  // namespace torchwatch::nightly
