#include "first_parent_line.hpp"

#include <algorithm>

namespace torchwatch::bisect {

Result<std::int64_t> FirstParentLine::follow(const git_oid& tip, const ParentOf& parent_of) {
  std::vector<git_oid> newest_first;
  std::optional<git_oid> commit = tip;
  std::optional<std::int64_t> joint;
  while (commit && !(joint = position(*commit))) {
    newest_first.push_back(*commit);
    TW_TRY(commit, parent_of(*commit));
  }
  const auto known = static_cast<std::int32_t>(joint.value_or(-1)) + 1;
  // A branch that was moved back has fewer commits than are known.
  std::erase_if(places_, [&](const Place& place) { return place.position >= known; });
  auto next = known + static_cast<std::int32_t>(newest_first.size());
  for (const auto& added : newest_first) places_.push_back({added, --next});
  std::ranges::sort(places_, [](const Place& a, const Place& b) {
    return git_oid_cmp(&a.commit, &b.commit) < 0;
  });
  places_.shrink_to_fit();
  return static_cast<std::int64_t>(newest_first.size());
}

std::optional<std::int64_t> FirstParentLine::position(const git_oid& commit) const {
  const auto place = std::ranges::lower_bound(
      places_, commit, [](const git_oid& a, const git_oid& b) { return git_oid_cmp(&a, &b) < 0; },
      &Place::commit);
  if (place == places_.end() || git_oid_equal(&place->commit, &commit) == 0) return std::nullopt;
  return place->position;
}

}  // namespace torchwatch::bisect
