#include "torchwatch/report/newest_nightly.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "torchwatch/storage/comparison_store.hpp"

namespace torchwatch::report {
namespace {

using storage::ComparisonRow;
using storage::ComparisonState;

/// More nightlies than ever wait, or are compared out of their order, at a time.
constexpr int kLookedAt = 100;

bool has_result(const ComparisonRow& row) {
  const bool is_judged = row.state == ComparisonState::judged ||
                         row.state == ComparisonState::bisected ||
                         row.state == ComparisonState::reported;
  return is_judged && row.baseline.has_value();
}

std::optional<ComparisonRow> newest_of(const std::vector<ComparisonRow>& rows) {
  const auto is_last = [&](const ComparisonRow& row) {
    return std::ranges::none_of(rows, [&](const ComparisonRow& other) {
      return other.baseline == row.candidate && other.candidate != row.candidate;
    });
  };
  const auto newest = std::ranges::find_if(rows, is_last);
  if (newest != rows.end()) return *newest;
  // Where the order of builds was turned round, each may be some other's baseline.
  return rows.empty() ? std::nullopt : std::optional(rows.front());
}

}  // namespace

NewestNightly newest_nightly(const std::vector<ComparisonRow>& rows) {
  std::vector<ComparisonRow> judged;
  std::ranges::copy_if(rows, std::back_inserter(judged), has_result);
  return {.known = newest_of(rows), .judged = newest_of(judged)};
}

Result<NewestNightly> newest_nightly(storage::Database& database) {
  TW_TRY(const auto rows,
         storage::ComparisonStore(database).nightlies_before(INT64_MAX, kLookedAt));
  return newest_nightly(rows);
}

}  // namespace torchwatch::report
