#include "named_or_newest.hpp"

#include <filesystem>
#include <optional>

#include "torchwatch/daemon/resolve.hpp"
#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::cli {
namespace {

Result<storage::BuildRow> newest(daemon::Application& application) {
  TW_TRY(const auto rows, storage::BuildStore(application.services().database).list());
  std::optional<storage::BuildRow> newest;
  for (const auto& row : rows) {
    const bool usable =
        row.state == storage::BuildState::ready && row.origin != storage::BuildOrigin::commit;
    if (usable && std::filesystem::exists(row.folder)) newest = row;
  }
  if (newest) return *newest;
  return fail(
      ErrorCode::not_found,
      "no build is known yet; name one with --build (a folder or a release such as 2.13.0)");
}

}  // namespace

Result<storage::BuildRow> named_or_newest(daemon::Application& application, const std::string& name,
                                          std::stop_token stop) {
  if (name.empty()) return newest(application);
  return daemon::resolve_build(application, name, stop);
}

}  // namespace torchwatch::cli
