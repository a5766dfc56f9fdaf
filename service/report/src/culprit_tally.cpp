#include "torchwatch/report/culprit_tally.hpp"

#include <set>

#include "torchwatch/figures/figures.hpp"
#include "torchwatch/report/view.hpp"

namespace torchwatch::report {

CulpritTally culprit_tally(const std::vector<storage::BisectionRow>& rows) {
  CulpritTally tally;
  std::set<storage::Id> disputed;
  for (const auto& row : rows) {
    const auto spec = embedded(row.spec_json);
    if (spec.is_object() && spec.contains("dispute")) {
      disputed.insert(spec["dispute"].value("bisection", storage::Id{0}));
    }
    const auto result = embedded(row.result_json);
    const bool has_culprit =
        result.is_object() && !result.value("culprits", nlohmann::json::array()).empty();
    if (has_culprit) ++tally.named;
  }
  tally.disputed = static_cast<int>(disputed.size());
  return tally;
}

std::string culprit_tally_text(const CulpritTally& tally) {
  return figures::count(static_cast<std::size_t>(tally.named), "bisection") + " named a commit; " +
         std::to_string(tally.disputed) + (tally.disputed == 1 ? " was" : " were") + " disputed.";
}

nlohmann::json json_of(const CulpritTally& tally) {
  return {{"named", tally.named}, {"disputed", tally.disputed}};
}

}  // namespace torchwatch::report
