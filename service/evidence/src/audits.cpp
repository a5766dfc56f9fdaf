#include <algorithm>
#include <set>

#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/evidence/work.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/report/wording.hpp"
#include "torchwatch/storage/bisection_store.hpp"

namespace torchwatch::evidence {
namespace {

constexpr int kBisectionsRead = 1'000;

/// The bisections whose culprit somebody disputed.
std::set<storage::Id> disputed_in(const std::vector<storage::BisectionRow>& rows) {
  std::set<storage::Id> disputed;
  for (const auto& row : rows) {
    // What is damaged is counted by nobody.
    const auto dispute = bisection::parse_dispute(row.spec_json).value_or(std::nullopt);
    if (dispute) disputed.insert(dispute->bisection);
  }
  return disputed;
}

}  // namespace

Calibration calibration_of(const std::vector<storage::BisectionRow>& rows) {
  const auto disputed = disputed_in(rows);
  Calibration calibration;
  for (const auto& row : rows) {
    const auto result = bisection::parse_bisection_result(row.result_json);
    if (!result || result->culprits.empty()) continue;
    ++calibration.named;
    const bool is_sure = std::ranges::any_of(result->culprits, [](const auto& culprit) {
      return report::finding_of(culprit) == report::Finding::named;
    });
    if (!is_sure) continue;
    ++calibration.sure;
    if (disputed.contains(row.id)) ++calibration.disputed;
  }
  return calibration;
}

std::string held_text(const Calibration& culprits) {
  if (culprits.sure == 0) return "";
  return "of " + figures::count(static_cast<std::size_t>(culprits.sure), "commit") +
         " named with 99 % or more, " + std::to_string(culprits.held()) + " held";
}

Result<Audits> audits_of(storage::Database& database) {
  Audits audits;
  TW_TRY(audits.self_tests, storage::ComparisonStore(database).self_tests());
  TW_TRY(audits.drills, storage::drills(database));
  TW_TRY(const auto rows, storage::BisectionStore(database).list(kBisectionsRead));
  audits.culprits = calibration_of(rows);
  return audits;
}

}  // namespace torchwatch::evidence
