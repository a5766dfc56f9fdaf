#include "torchwatch/daemon/resolve.hpp"

#include <algorithm>
#include <filesystem>

#include "torchwatch/nightly/discovery.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::daemon {
namespace {

using storage::BuildOrigin;
using storage::BuildRow;

Result<BuildRow> known(Session& session, BuildOrigin origin, const std::string& name,
                       const builds::Tree& tree) {
  auto& workshop = session.workshop();
  storage::BuildStore store(workshop.database);
  TW_TRY(auto row, store.discovered(origin, name));
  row.version = tree.version;
  row.embedded_commit = tree.embedded_commit;
  row.trunk_commit = nightly::trunk_commit_of(workshop, tree);
  row.content_hash = tree.content_hash;
  row.folder = tree.folder.string();
  return store.became_ready(row);
}

/// Looks like a version of the wheel index: "2.12.1".
bool is_release(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos &&
         text.find('.') != std::string::npos;
}

}  // namespace

Result<BuildRow> resolve_build(Session& session, const std::string& text, std::stop_token stop) {
  auto& workshop = session.workshop();
  if (std::filesystem::is_directory(text)) {
    const auto folder = std::filesystem::canonical(text);
    TW_TRY(const auto tree, builds::inspect(folder));
    return known(session, BuildOrigin::folder, folder.string(), tree);
  }
  const auto names = workshop.channel.list(stop);
  if (names && std::ranges::find(*names, text) != names->end()) {
    TW_TRY(const auto tree, workshop.channel.fetch(text, stop));
    return known(session, BuildOrigin::nightly, text, tree);
  }
  if (is_release(text)) {
    workshop.progress.began("fetching release " + text);
    TW_TRY(const auto tree, session.releases().fetch(text, stop));
    return known(session, BuildOrigin::release, text, tree);
  }
  return fail(ErrorCode::not_found,
              "build \"" + text + "\" is no folder, no build of the channel" +
                  (names ? "" : " (" + names.error().message + ")") +
                  " and no release such as 2.13.0; `torchwatch builds` lists the known ones");
}

Result<std::string> resolve_commit(Session& session, const std::string& text) {
  auto& workshop = session.workshop();
  if (workshop.history == nullptr) {
    return fail(ErrorCode::invalid,
                "commits cannot be searched: set [source] repository in the configuration");
  }
  storage::BuildStore store(workshop.database);
  TW_TRY(const auto rows, store.list());
  const auto named = std::ranges::find_if(rows, [&](const BuildRow& row) {
    return row.name == text && row.origin == BuildOrigin::nightly && !row.trunk_commit.empty();
  });
  if (named != rows.end()) return named->trunk_commit;
  return workshop.history->trunk_commit(text);
}

}  // namespace torchwatch::daemon
