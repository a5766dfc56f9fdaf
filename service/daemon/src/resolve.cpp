#include "torchwatch/daemon/resolve.hpp"

#include <algorithm>
#include <filesystem>

#include "torchwatch/nightly/discovery.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::daemon {
namespace {

using storage::BuildOrigin;
using storage::BuildRow;

Result<BuildRow> known(Application& application, BuildOrigin origin, const std::string& name,
                       const builds::Tree& tree) {
  auto& services = application.services();
  storage::BuildStore store(services.database);
  BuildRow row;
  row.origin = origin;
  row.name = name;
  if (!application.is_reader()) {
    TW_TRY(row, store.discover(origin, name));
  }
  row.version = tree.version;
  row.embedded_commit = tree.embedded_commit;
  row.trunk_commit = nightly::trunk_commit_of(services, tree);
  row.content_hash = tree.content_hash;
  row.folder = tree.folder.string();
  return application.is_reader() ? Result<BuildRow>(row) : store.mark_ready(row);
}

/// Looks like a version of the wheel index: "2.12.1".
bool is_release(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos &&
         text.find('.') != std::string::npos;
}

}  // namespace

Result<BuildRow> resolve_build(Application& application, const std::string& text,
                               std::stop_token stop) {
  auto& services = application.services();
  if (std::filesystem::is_directory(text)) {
    const auto folder = std::filesystem::canonical(text);
    TW_TRY(const auto tree, builds::inspect(folder));
    return known(application, BuildOrigin::folder, folder.string(), tree);
  }
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
  return fail(ErrorCode::not_found,
              "unknown build \"" + text + "\": must be a folder, a build of the channel" +
                  (names ? "" : " (" + names.error().message + ")") +
                  " or a release such as 2.13.0; `torchwatch builds` lists the known ones");
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

}  // namespace torchwatch::daemon
