#include "torchwatch/report/culprit_tally.hpp"

#include <set>

#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/storage/bisection_store.hpp"

namespace torchwatch::report {

CulpritTally culprit_tally(const std::vector<storage::BisectionRow>& rows) {
  CulpritTally tally;
  std::set<storage::Id> disputed;
  for (const auto& row : rows) {
    // A damaged row must not keep other incidents from their texts: a dispute that cannot be read
    // counts as one of bisection 0.
    const auto dispute = bisection::parse_dispute(row.spec_json).value_or(bisection::Dispute{});
    if (dispute) disputed.insert(dispute->bisection);
    const auto result = bisection::parse_bisection_result(row.result_json);
    if (result && !result->culprits.empty()) ++tally.named;
  }
  tally.disputed = static_cast<int>(disputed.size());
  return tally;
}

Result<CulpritTally> culprit_tally(storage::Database& database) {
  constexpr int kBisectionsRead = 1000;
  TW_TRY(const auto rows, storage::BisectionStore(database).list(kBisectionsRead));
  return culprit_tally(rows);
}

std::string culprit_tally_text(const CulpritTally& tally) {
  return figures::count(static_cast<std::size_t>(tally.named), "bisection") + " named a commit; " +
         std::to_string(tally.disputed) + (tally.disputed == 1 ? " was" : " were") + " disputed.";
}

nlohmann::json json_of(const CulpritTally& tally) {
  return {{"named", tally.named}, {"disputed", tally.disputed}};
}

}  // namespace torchwatch::report
