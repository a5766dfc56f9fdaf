#include "torchwatch/evidence/context.hpp"

#include "drawn.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/study_store.hpp"

namespace torchwatch::evidence {

std::string name_of(const storage::BuildRow& build, const Context& context) {
  const bool is_private = build.origin == storage::BuildOrigin::folder && !context.is_trusted;
  if (is_private) return "a folder";
  return build.origin == storage::BuildOrigin::commit ? short_sha(build.name) : build.name;
}

Result<SideNames> side_names(const Context& context, const storage::ComparisonRow& comparison) {
  TW_TRY(const auto study, storage::StudyStore(context.database).find(comparison.id));
  if (study) return SideNames{.baseline = study->baseline, .candidate = study->candidate};
  storage::BuildStore builds(context.database);
  SideNames names;
  TW_TRY(const auto candidate, builds.get(comparison.candidate));
  names.candidate = name_of(candidate, context);
  if (!comparison.baseline) return names;
  TW_TRY(const auto baseline, builds.get(*comparison.baseline));
  names.baseline = name_of(baseline, context);
  return names;
}

}  // namespace torchwatch::evidence
