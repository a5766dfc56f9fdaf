#include "trunk_range.hpp"

#include "torchwatch/bisection/searched_range.hpp"
#include "torchwatch/runs/trunk_range_store.hpp"

namespace torchwatch::nightly {
namespace {

constexpr std::int64_t kCommitsMost = 1'000;  ///< whose diffs are read

bool are_two_nightlies(const storage::BuildRow& baseline, const storage::BuildRow& candidate) {
  return baseline.id != candidate.id && baseline.origin == storage::BuildOrigin::nightly &&
         candidate.origin == storage::BuildOrigin::nightly;
}

Result<std::int64_t> count_that_can_matter(const comparison::Services& services,
                                           const std::string& from, const std::string& to) {
  const auto& history = *services.history;
  TW_TRY(const auto all, history.count(from, to, kCommitsMost));
  if (!all) {
    return fail(ErrorCode::invalid,
                from + " is not among the 1,000 commits of the trunk before " + to);
  }
  if (*all == 0) return 0;
  bisection::BisectionSpec spec;
  spec.good = from;
  spec.bad = to;
  spec.cannot_change = services.config.bisect.cannot_change;
  TW_TRY(const auto range, bisection::read_range(history, spec));
  return static_cast<std::int64_t>(range.folded.classes.size());
}

}  // namespace

Status note_trunk_range(comparison::Services& services, storage::Id comparison,
                        const storage::BuildRow& baseline, const storage::BuildRow& candidate) {
  if (services.history == nullptr || !are_two_nightlies(baseline, candidate)) return {};
  storage::TrunkRangeStore store(services.database);
  TW_TRY(const auto known, store.find(comparison));
  if (known) return {};
  const auto found = count_that_can_matter(services, baseline.trunk_commit, candidate.trunk_commit);
  if (found) return store.record(comparison, *found);
  services.progress.log(
      "comparison " + std::to_string(comparison) +
      ": how many of its commits can matter is not known: " + found.error().text());
  return {};
}

}  // namespace torchwatch::nightly
