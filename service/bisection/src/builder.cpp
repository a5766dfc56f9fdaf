#include "builder.hpp"

#include <numeric>

#include "torchwatch/records/hex.hpp"

namespace torchwatch::bisection {
namespace {

/// After this many faults of the recipe in a row the environment is broken, not the commits.
constexpr int kFaultsInARowMax = 3;

/// Why the range ends with an end that cannot be built.
EarlyEnd end_without(const std::string& end, const std::string& sha, const builds::Unbuildable& why,
                     bool is_set_aside) {
  const auto text = "the " + end + " end, commit " + sha + ", cannot be built: " + why.reason;
  if (is_set_aside) {
    return {.outcome = BisectionOutcome::not_told_apart,
            .reason =
                "only one of the two ends was made elsewhere, so a step between them may be "
                "one of how they were made; " +
                text};
  }
  return {.outcome = why.fault ? BisectionOutcome::faulted : BisectionOutcome::nothing_to_search,
          .reason = text};
}

}  // namespace

BisectionBuilder::BisectionBuilder(comparison::Services& services, const BisectionSpec& spec,
                                   RecordedSearch& recorded)
    : services_(services),
      spec_(spec),
      recorded_(recorded),
      preparer_(services, comparison::workloads_of(spec.plan)) {}

Status BisectionBuilder::take_what_is_at_hand() {
  for (std::size_t candidate = 0; candidate + 1 < recorded_.class_count(); ++candidate) {
    const auto sha = recorded_.commit_of(candidate);
    // What cannot be read there may never be needed; if it is, building it says so.
    const auto known = services_.commits->cached(sha);
    const auto* tree = known && *known ? std::get_if<builds::Tree>(&**known) : nullptr;
    if (tree == nullptr || !tree->origin.empty() || recorded_.origin_of(candidate)) continue;
    TW_TRY_VOID(recorded_.record(CommitBuilt{.candidate = candidate,
                                             .commit = sha,
                                             .content_hash = tree->content_hash,
                                             .origin = {},
                                             .at_hand = true}));
  }
  return {};
}

std::vector<bisect::Reference> BisectionBuilder::missing_for(const bisect::Measure& wanted) const {
  const auto builders = static_cast<std::size_t>(services_.config.build.builders);
  std::vector<bisect::Reference> missing;
  for (const auto candidate : recorded_.search().next_builds(builders)) {
    missing.emplace_back(candidate);
  }
  if (!missing.empty()) return missing;
  // What the search takes for built: the ends, and after a resumption whatever is recorded.
  for (const auto& side : {wanted.reference, bisect::Reference{wanted.candidate}}) {
    if (!built_.contains(side) && missing.size() < builders) missing.push_back(side);
  }
  return missing;
}

Result<std::optional<EarlyEnd>> BisectionBuilder::build(const std::vector<bisect::Reference>& sides,
                                                        std::stop_token stop) {
  for (const auto maker : {builds::Maker::anybody, builds::Maker::recipe}) {
    TW_TRY_VOID(fill_cache(sides, maker, stop));
  }
  for (const auto& side : sides) {
    TW_TRY(auto end, build_one(side, stop));
    if (end) return end;
  }
  TW_TRY_VOID(record_equal_libraries());
  return std::nullopt;
}

/// Builds what is not at hand into the cache, all at once; there it is then found one after the
/// other.
Status BisectionBuilder::fill_cache(const std::vector<bisect::Reference>& sides,
                                    builds::Maker maker, std::stop_token stop) {
  if (sides.size() < 2) return {};
  std::vector<std::string> commits;
  std::string names;
  for (const auto& side : sides) {
    if (recorded_.maker_of(side) != maker) continue;
    const auto sha = recorded_.sha_of(side);
    TW_TRY(const auto known, services_.commits->cached(sha, maker));
    if (known) continue;
    commits.push_back(sha);
    names += (names.empty() ? "" : ", ") + short_sha(sha);
  }
  if (commits.size() < 2) return {};
  TW_TRY(const auto base, this->base());
  services_.progress.long_step_started(comparison::LongStep::build,
                                       "building commits " + names + " at once");
  TW_TRY_VOID(services_.commits->build_at_once(commits, base, stop, maker));
  return {};
}

/// A build that the recipe may start from.
Result<std::optional<builds::Tree>> BisectionBuilder::base() const {
  if (!built_.empty()) return built_.begin()->second.tree;
  TW_TRY(const auto folder, base_folder(services_.database, spec_));
  if (folder.empty()) return std::optional<builds::Tree>{};
  // It saves work, no more: where it is gone, recipes begin without it.
  auto tree = builds::inspect(folder);
  return tree ? std::optional(*std::move(tree)) : std::nullopt;
}

/// Says what is done with a commit: what is at hand is not built.
Status BisectionBuilder::announce(const std::string& sha, builds::Maker maker) {
  TW_TRY(const auto known, services_.commits->cached(sha, maker));
  const auto commit = "commit " + short_sha(sha);
  if (known) {
    services_.progress.phase_started("preparing " + commit + ", which is at hand");
  } else {
    services_.progress.long_step_started(comparison::LongStep::build, "building " + commit);
  }
  return {};
}

Result<std::optional<EarlyEnd>> BisectionBuilder::build_one(bisect::Reference side,
                                                            std::stop_token stop) {
  if (built_.contains(side)) return std::nullopt;
  TW_TRY(const auto base, this->base());
  const auto sha = recorded_.sha_of(side);
  const auto maker = recorded_.maker_of(side);
  TW_TRY_VOID(announce(sha, maker));
  // Without an end nothing is measured; whatever lies between them can be left out.
  const bool is_end = !side || recorded_.is_bad_end(*side);
  const auto without =
      is_end ? comparison::WithoutRunner::failed : comparison::WithoutRunner::unbuildable;
  TW_TRY(auto made, preparer_.of_commit(sha, base, stop, maker, without));
  if (const auto* unbuildable = std::get_if<builds::Unbuildable>(&made)) {
    return record_unbuildable(side, *unbuildable);
  }
  const auto& build =
      built_.emplace(side, std::get<comparison::MeasurableBuild>(std::move(made))).first->second;
  TW_TRY_VOID(record_built(side, build.tree));
  return std::nullopt;
}

/// A build that was made anew, by somebody else than the one that was measured, takes its place.
Status BisectionBuilder::record_built(bisect::Reference side, const builds::Tree& tree) {
  const auto known = recorded_.origin_of(side);
  if (known == tree.origin) return {};
  if (known) TW_TRY_VOID(recorded_.record(BuildSetAside{.side = side, .beside = side}));
  return recorded_.record(CommitBuilt{.candidate = side,
                                      .commit = recorded_.sha_of(side),
                                      .content_hash = tree.content_hash,
                                      .origin = tree.origin});
}

Result<bool> BisectionBuilder::set_unlike_aside(bisect::Reference side, bisect::Reference beside) {
  const auto unlike = recorded_.unlike(side, beside);
  for (const auto& gone : unlike) {
    built_.erase(gone.side);
    TW_TRY_VOID(recorded_.record(gone));
  }
  return !unlike.empty();
}

Result<std::variant<comparison::MeasurableBuild, builds::Unbuildable>>
BisectionBuilder::bad_end_of_recipe(std::stop_token stop) {
  const bisect::Reference bad = recorded_.class_count() - 1;
  if (at(bad).tree.origin.empty()) return at(bad);
  return preparer_.of_commit(recorded_.sha_of(bad), at(bad).tree, stop, builds::Maker::recipe,
                             comparison::WithoutRunner::unbuildable);
}

Result<std::variant<comparison::MeasurableBuild, builds::Unbuildable>>
BisectionBuilder::build_beside(const std::string& commit, bisect::Reference beside,
                               std::stop_token stop) {
  return preparer_.of_commit(commit, at(beside).tree, stop, builds::Maker::recipe,
                             comparison::WithoutRunner::unbuildable);
}

Result<std::optional<EarlyEnd>> BisectionBuilder::record_unbuildable(
    bisect::Reference side, const builds::Unbuildable& why) {
  const auto sha = recorded_.sha_of(side);
  services_.progress.log("commit " + short_sha(sha) + " does not build: " + why.reason);
  if (!side || recorded_.is_bad_end(*side)) {
    const bool is_set_aside =
        recorded_.maker_of(side) == builds::Maker::recipe && !recorded_.origin_of(side);
    return end_without(side ? "bad" : "good", sha, why, is_set_aside);
  }
  std::vector<std::size_t> all_series(spec_.series.size());
  std::iota(all_series.begin(), all_series.end(), std::size_t{0});
  TW_TRY_VOID(leave_out(
      recorded_, {.candidate = *side, .commit = sha, .reason = why.reason, .fault = why.fault},
      all_series));
  if (faults_in_a_row(recorded_) < kFaultsInARowMax) return std::nullopt;
  return EarlyEnd{.outcome = BisectionOutcome::faulted,
                  .reason = "the build recipe failed for " + std::to_string(kFaultsInARowMax) +
                            " commits in a row, last with: " + why.reason};
}

/// Equal libraries of two makers say nothing: flags may do what a commit does.
Status BisectionBuilder::record_equal_libraries() {
  const auto good = built_.find(std::nullopt);
  if (good == built_.end()) return {};
  const auto library = [this](const auto& built) {
    const auto& tree = built.second.tree;
    return place_in(tree.origin, recorded_.sha_of(built.first)) + " " + tree.content_hash;
  };
  std::vector<std::optional<std::string>> hashes(recorded_.class_count());
  for (const auto& built : built_) {
    if (built.first) hashes[*built.first] = library(built);
  }
  for (const auto& same : bisect::join_equal(library(*good), hashes)) {
    if (!recorded_.has(same)) TW_TRY_VOID(recorded_.record(same));
  }
  return {};
}

}  // namespace torchwatch::bisection
