#include "torchwatch/report/culprit_tally.hpp"

#include <optional>
#include <set>

#include "torchwatch/figures/figures.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/bisection_store.hpp"

namespace torchwatch::report {
namespace {

/// Returns the bisection that this one searches again because its culprit was disputed. A damaged
/// row must not keep other incidents from their texts: its number is 0 where there is none.
std::optional<storage::Id> disputed_by(const nlohmann::json& spec) {
  if (!spec.is_object() || !spec.contains("dispute")) return std::nullopt;
  const auto& dispute = spec["dispute"];
  const bool is_named = dispute.is_object() && dispute.contains("bisection") &&
                        dispute["bisection"].is_number_integer();
  return is_named ? dispute["bisection"].get<storage::Id>() : storage::Id{0};
}

}  // namespace

CulpritTally culprit_tally(const std::vector<storage::BisectionRow>& rows) {
  CulpritTally tally;
  std::set<storage::Id> disputed;
  for (const auto& row : rows) {
    if (const auto of = disputed_by(embedded(row.spec_json))) disputed.insert(*of);
    const auto result = embedded(row.result_json);
    const bool has_culprit =
        result.is_object() && !result.value("culprits", nlohmann::json::array()).empty();
    if (has_culprit) ++tally.named;
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
