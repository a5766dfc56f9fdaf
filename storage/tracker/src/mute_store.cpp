#include "torchwatch/tracker/mute_store.hpp"

#include <algorithm>
#include <array>

#include "query.hpp"
#include "transaction.hpp"

namespace torchwatch::storage {
namespace {

const std::string kSelect =
    "SELECT id, target, until, made_by, reason, asked_by, made_at FROM mute ";

constexpr std::string_view kForm =
    "must be WORKLOAD, or WORKLOAD/CONFIGURATION/VARIANT/METRIC as far as needed, with * for any";

MuteRow row_of(Query& row) {
  return MuteRow{.id = row.take<Id>(),
                 .target = row.take<std::string>(),
                 .until = row.take<WallMillis>(),
                 .made_by = row.take<std::string>(),
                 .reason = row.take<std::string>(),
                 .asked_by = row.take<std::string>(),
                 .made_at = row.take<WallMillis>()};
}

std::vector<std::string> parts_of(const std::string& target) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  while (at != std::string::npos) {
    const auto slash = target.find('/', at);
    parts.push_back(target.substr(at, slash == std::string::npos ? slash : slash - at));
    at = slash == std::string::npos ? slash : slash + 1;
  }
  return parts;
}

}  // namespace

Status check_mute_target(const std::string& target) {
  const auto parts = parts_of(target);
  const bool is_empty = std::ranges::any_of(parts, [](const auto& part) { return part.empty(); });
  if (is_empty || parts.size() > 4) {
    return fail(ErrorCode::invalid, "invalid target: " + std::string(kForm));
  }
  const auto is_named = [&](std::size_t i) { return parts.size() > i && parts[i] != "*"; };
  if (is_named(1)) TW_TRY_VOID(parse_configuration(parts[1]));
  if (is_named(2)) TW_TRY_VOID(parse_variant(parts[2]));
  if (is_named(3)) TW_TRY_VOID(parse_judged_metric(parts[3]));
  const bool is_all = std::ranges::all_of(parts, [](const auto& part) { return part == "*"; });
  if (!is_all) return {};
  return fail(ErrorCode::invalid, "a target that is everything would hide every change: name some");
}

bool is_muted_by(const std::string& target, const Series& series) {
  const auto& [workload, configuration, variant] = series.benchmark;
  const std::array<std::string, 4> names{workload, to_string(configuration), to_string(variant),
                                         std::string(to_string(series.metric))};
  const auto parts = parts_of(target);
  for (std::size_t i = 0; i < std::min(parts.size(), names.size()); ++i) {
    if (parts[i] != "*" && parts[i] != names[i]) return false;
  }
  return true;
}

Result<MuteRow> MuteStore::add(const MuteRow& row) {
  return write(database_, [&](Connection& connection) -> Result<MuteRow> {
    execute(connection,
            "INSERT INTO mute (target, until, made_by, reason, asked_by, made_at) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            row.target, row.until, row.made_by, row.reason, row.asked_by, row.made_at);
    auto stored = row;
    stored.id = last_id(connection);
    return stored;
  });
}

Result<MuteRow> MuteStore::get(Id id) {
  return read(database_, [&](Connection& connection) {
    return one_row(Query(connection, kSelect + "WHERE id = ?", id), row_of,
                   "mute " + std::to_string(id));
  });
}

Status MuteStore::lift(Id id, WallMillis now) {
  return write(database_, [&](Connection& connection) -> Status {
    TW_TRY(const auto row, one_row(Query(connection, kSelect + "WHERE id = ?", id), row_of,
                                   "mute " + std::to_string(id)));
    if (row.until <= now) {
      return fail(ErrorCode::conflict, "mute " + std::to_string(id) + " has ended already");
    }
    execute(connection, "UPDATE mute SET until = ? WHERE id = ?", now, id);
    return {};
  });
}

Result<std::vector<MuteRow>> MuteStore::active(WallMillis now) {
  return read(database_, [&](Connection& connection) {
    return all_rows(Query(connection, kSelect + "WHERE until > ? ORDER BY id", now), row_of);
  });
}

Result<std::vector<MuteRow>> MuteStore::list(int limit, Id before) {
  return read(database_, [&](Connection& connection) {
    return all_rows(
        Query(connection, kSelect + "WHERE id < ? ORDER BY id DESC LIMIT ?", before, limit),
        row_of);
  });
}

}  // namespace torchwatch::storage
