#include "torchwatch/daemon/resolve.hpp"

#include <algorithm>
#include <filesystem>

#include "torchwatch/comparison/build_preparer.hpp"
#include "torchwatch/nightly/discovery.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::daemon {
namespace {

using storage::BuildOrigin;
using storage::BuildRow;

Result<BuildRow> known(Application& application, BuildOrigin origin, const std::string& name,
                       const builds::Tree& tree) {
  auto& services = application.services();
  const auto trunk_commit = nightly::trunk_commit_of(services, tree);
  if (application.is_reader()) {
    BuildRow row;
    row.origin = origin;
    row.name = name;
    return comparison::described(std::move(row), tree, trunk_commit);
  }
  TW_TRY(auto row, storage::BuildStore(services.database).discover(origin, name));
  return comparison::mark_ready(services, std::move(row), tree, trunk_commit);
}

/// Looks like a version of the wheel index: "2.12.1".
bool is_release(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos &&
         text.find('.') != std::string::npos;
}

}  // namespace

Result<BuildRow> published_build(Application& application, const std::string& text,
                                 std::stop_token stop) {
  auto& services = application.services();
  const auto names = services.channel.list(stop);
  if (names && std::ranges::find(*names, text) != names->end()) {
    TW_TRY(const auto tree, services.channel.fetch(text, stop));
    return known(application, BuildOrigin::nightly, text, tree);
  }
  if (is_release(text)) {
    services.progress.phase_started("fetching release " + text);
    TW_TRY(const auto tree, application.releases().fetch(text, stop));
    return known(application, BuildOrigin::release, text, tree);
  }
  // A channel that cannot be reached now may list it later.
  if (!names) return fail(names.error().within("build \"" + text + "\""));
  return fail(ErrorCode::not_found,
              "unknown build \"" + text +
                  "\": must be a build of the channel or a release such as 2.13.0; `torchwatch "
                  "build list` lists the known ones");
}

Result<BuildRow> resolve_build(Application& application, const std::string& text,
                               std::stop_token stop) {
  if (!std::filesystem::is_directory(text)) {
    auto published = published_build(application, text, stop);
    if (published || published.error().code != ErrorCode::not_found) return published;
    return fail(ErrorCode::not_found,
                "unknown build \"" + text +
                    "\": no folder, no build of the channel and no release such as 2.13.0; "
                    "`torchwatch build list` lists the known ones");
  }
  const auto folder = std::filesystem::canonical(text);
  TW_TRY(const auto tree, builds::inspect(folder));
  return known(application, BuildOrigin::folder, folder.string(), tree);
}

Result<std::string> resolve_commit(Application& application, const std::string& text) {
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
  return services.history->trunk_commit(text);
}

Result<std::string> commit_on_branch(Application& application, const std::string& text) {
  auto& services = application.services();
  TW_TRY(auto sha, resolve_commit(application, text));
  const auto& branch = services.config.source.branch;
  const auto position = services.history->position(sha, branch);
  if (position) return sha;
  return fail(ErrorCode::invalid, "commit \"" + text + "\" is not on branch " + branch +
                                      ": only its commits are built for a request");
}

}  // namespace torchwatch::daemon
