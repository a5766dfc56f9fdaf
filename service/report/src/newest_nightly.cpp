#include "torchwatch/report/newest_nightly.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "torchwatch/storage/build_store.hpp"
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

std::optional<ComparisonRow> newest_of(const std::vector<ComparisonRow>& rows,
                                       const Places& places) {
  const auto place_of = [&](const ComparisonRow& row) {
    const auto found = places.find(row.candidate);
    return found == places.end() ? 0 : found->second;
  };
  const auto newest = std::ranges::max_element(rows, {}, place_of);
  return newest == rows.end() ? std::nullopt : std::optional(*newest);
}

}  // namespace

NewestNightly newest_nightly(const std::vector<ComparisonRow>& rows, const Places& places) {
  std::vector<ComparisonRow> judged;
  std::ranges::copy_if(rows, std::back_inserter(judged), has_result);
  return {.known = newest_of(rows, places), .judged = newest_of(judged, places)};
}

Result<NewestNightly> newest_nightly(storage::Database& database) {
  TW_TRY(const auto rows,
         storage::ComparisonStore(database).nightlies_before(INT64_MAX, kLookedAt));
  TW_TRY(const auto builds, storage::BuildStore(database).list());
  Places places;
  for (const auto& build : builds) places.emplace(build.id, build.place);
  return newest_nightly(rows, places);
}

Result<std::vector<storage::BuildRow>> left_out_nightlies(storage::Database& database) {
  constexpr std::size_t kNewest = 5;
  TW_TRY(auto builds, storage::BuildStore(database).list());
  std::erase_if(builds,
                [](const auto& row) { return row.origin != storage::BuildOrigin::nightly; });
  const auto older = builds.size() - std::min(builds.size(), kNewest);
  builds.erase(builds.begin(), builds.begin() + static_cast<std::ptrdiff_t>(older));
  std::erase_if(builds, [](const auto& row) { return reason_of(row).empty(); });
  return builds;
}

const std::string& reason_of(const storage::BuildRow& build) {
  return build.state == storage::BuildState::rejected ? build.reason : build.unusable;
}

}  // namespace torchwatch::report
