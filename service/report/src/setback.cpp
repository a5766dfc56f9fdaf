#include "torchwatch/report/setback.hpp"

#include <algorithm>
#include <string_view>

#include "torchwatch/platform/clock.hpp"
#include "torchwatch/storage/setback_store.hpp"

namespace torchwatch::report {
namespace {

constexpr std::string_view kWaitsForBuild = "waits for build ";
constexpr std::size_t kDate = 11;  // "2026-08-17 ", before hour and minute

bool waits_for_another(const storage::SetbackRow& row) {
  return row.error.starts_with(kWaitsForBuild);
}

std::string in_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace

std::string waits_for_build(const std::string& build) {
  return std::string(kWaitsForBuild) + build;
}

std::string setback_text(const storage::SetbackRow& row) {
  auto text = in_one_line(row.error);
  if (waits_for_another(row)) return text;
  if (row.tries > 0) {
    text += "; tried " + std::to_string(row.tries) + " of " + std::to_string(storage::kTriesMax) +
            " times";
  }
  const auto next = platform::date_and_minute(row.not_before);
  return next.empty() ? text : text + "; next try " + next.substr(kDate) + " UTC";
}

std::string waiting_text(const storage::SetbackRow& row) {
  const auto since = platform::date_and_minute(row.since);
  const auto text = setback_text(row);
  return waits_for_another(row) ? text + " since " + since : "waits since " + since + ": " + text;
}

Result<std::string> what_it_waits_for(storage::Database& database, storage::ItemKind kind,
                                      storage::Id id) {
  TW_TRY(const auto setback, storage::SetbackStore(database).find({kind, std::to_string(id)}));
  return setback ? waiting_text(*setback) : std::string();
}

}  // namespace torchwatch::report
