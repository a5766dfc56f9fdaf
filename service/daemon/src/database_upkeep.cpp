#include "database_upkeep.hpp"

#include "torchwatch/daemon/application.hpp"
#include "torchwatch/database/backup.hpp"
#include "torchwatch/health/problem.hpp"

namespace torchwatch::daemon {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> busy() {
  return fail(ErrorCode::conflict,
              "the database is being copied or checked for somebody else: ask again when that has "
              "ended");
}

/// "torchwatch-20260816T030405Z.backup".
std::string name_of_backup(platform::WallMillis now) {
  auto time = platform::iso_utc(now);
  std::erase_if(time, [](char c) { return c == '-' || c == ':'; });
  return kBackupsBegin + time + ".backup";
}

}  // namespace

Result<fs::path> DatabaseUpkeep::back_up() {
  const std::unique_lock one_at_a_time(busy_, std::try_to_lock);
  if (!one_at_a_time) return busy();
  TW_TRY_VOID(health::require_disk_reserve(config_));
  const auto folder = config::backups_folder(config_);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    return fail(ErrorCode::unavailable, "cannot make " + folder.string() + ": " + error.message());
  }
  const auto file = folder / name_of_backup(clock_.wall_now());
  if (fs::exists(file, error)) {
    return fail(ErrorCode::conflict, "there is a backup of this second already: ask again");
  }
  TW_TRY(const auto reader, open_reader(config_));
  TW_TRY_VOID(storage::back_up(*reader, file));
  return file;
}

Result<std::vector<storage::InvariantBreach>> DatabaseUpkeep::check() {
  const std::unique_lock one_at_a_time(busy_, std::try_to_lock);
  if (!one_at_a_time) return busy();
  TW_TRY(const auto reader, open_reader(config_));
  return reader->check_invariants(ending_.get_token());
}

}  // namespace torchwatch::daemon
