#include "torchwatch/nightly/discovery.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "torchwatch/comparison/build_preparer.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"

namespace torchwatch::nightly {
namespace {

using storage::BuildRow;

struct PositionedBuild {
  BuildRow build;
  std::int64_t position = 0;
};

Status reject(comparison::Services& services, const BuildRow& row, const std::string& reason) {
  if (row.state == storage::BuildState::rejected && row.reason == reason) return {};
  services.progress.log("nightly " + row.name + " rejected: " + reason);
  const auto rejected = storage::BuildStore(services.database).reject(row.id, reason);
  return rejected ? Status{} : Status{fail(rejected.error())};
}

/// Fetches a build that is not at hand. One that cannot be had is rejected, or left for later.
Result<BuildRow> fetch(comparison::Services& services, BuildRow row, Retry retry,
                       std::stop_token stop) {
  const storage::ItemKey key{storage::ItemKind::build, row.name};
  TW_TRY(const bool due, is_due(services, key));
  if (!due && retry == Retry::when_due) return row;
  const WorkItem item{
      .key = key,
      .work = [&]() -> Status {
        TW_TRY(const auto tree, services.channel.fetch(row.name, stop));
        TW_TRY(row, comparison::mark_ready(services, row, tree, trunk_commit_of(services, tree)));
        return {};
      },
      .end = [&](Failure, const std::string& reason) { return reject(services, row, reason); }};
  TW_TRY_VOID(attend(services, item));
  return storage::BuildStore(services.database).get(row.id);
}

/// Returns the builds that can be measured, in the channel's order.
Result<std::vector<BuildRow>> ready_builds(comparison::Services& services,
                                           const std::vector<std::string>& names, Retry retry,
                                           std::stop_token stop) {
  storage::BuildStore store(services.database);
  std::vector<BuildRow> ready;
  for (const auto& name : names) {
    TW_TRY(auto row, store.discover(storage::BuildOrigin::nightly, name));
    if (row.state != storage::BuildState::ready) {
      TW_TRY(row, fetch(services, row, retry, stop));
    }
    const bool is_usable = row.state == storage::BuildState::ready && row.unusable.empty();
    if (is_usable) ready.push_back(std::move(row));
  }
  return ready;
}

/// Sorts builds by their commits. One whose commit [source] does not have keeps its place in the
/// channel's order.
void sort_by_commit(comparison::Services& services, std::vector<BuildRow>& builds) {
  if (services.history == nullptr) return;
  std::vector<PositionedBuild> positioned;
  std::vector<BuildRow*> places;
  for (auto& build : builds) {
    const auto position =
        services.history->position(build.trunk_commit, services.config.source.branch);
    if (position) {
      positioned.push_back({build, *position});
      places.push_back(&build);
      continue;
    }
    services.progress.log("nightly " + build.name + ": commit " + build.trunk_commit +
                          " is not on branch " + services.config.source.branch +
                          " of [source], so it keeps its place in the channel's order");
  }
  std::ranges::stable_sort(positioned, {}, &PositionedBuild::position);
  for (std::size_t at = 0; at < places.size(); ++at) {
    *places[at] = std::move(positioned[at].build);
  }
}

Status open_comparison(comparison::Services& services, const BuildRow& candidate,
                       const BuildRow* baseline) {
  storage::ComparisonStore comparisons(services.database);
  const auto now = services.clock.wall_now();
  if (baseline == nullptr) {
    // If older builds were removed, the oldest one left has had its comparison.
    TW_TRY(const auto known, comparisons.nightly_of(candidate.id));
    if (known) return {};
  }
  TW_TRY(const auto comparison,
         comparisons.open(
             {.purpose = storage::Purpose::nightly,
              .candidate = candidate.id,
              .baseline = baseline == nullptr ? std::nullopt : std::optional(baseline->id),
              .opens_incidents = baseline != nullptr},
             now));
  if (baseline != nullptr || comparison.state != storage::ComparisonState::discovered) return {};
  const auto accepted = comparisons.advance(comparison, storage::ComparisonState::accepted, now,
                                            std::string(kOldestNightly));
  return accepted ? Status{} : Status{fail(accepted.error())};
}

}  // namespace

std::string trunk_commit_of(const comparison::Services& services, const builds::Tree& tree) {
  if (services.history == nullptr) return tree.embedded_commit;
  return services.history->trunk_commit(tree.embedded_commit).value_or(tree.embedded_commit);
}

Status restore_tree(comparison::Services& services, const BuildRow& build, std::stop_token stop) {
  std::error_code error;
  if (std::filesystem::exists(build.folder, error)) return {};
  const bool is_release = build.origin == storage::BuildOrigin::release;
  const bool is_published = is_release || build.origin == storage::BuildOrigin::nightly;
  auto* const channel = is_release ? services.releases : &services.channel;
  if (!is_published || channel == nullptr) return {};
  TW_TRY(const auto tree, channel->fetch(build.name, stop));
  TW_TRY(const auto row,
         comparison::mark_ready(services, build, tree, trunk_commit_of(services, tree)));
  if (row.id == build.id) return {};
  return fail(ErrorCode::conflict,
              "its files are gone, and what is published now is another build");
}

Result<std::vector<storage::ComparisonRow>> discover_comparisons(comparison::Services& services,
                                                                 std::stop_token stop,
                                                                 Retry retry) {
  TW_TRY(const auto names, services.channel.list(stop));
  TW_TRY(auto builds, ready_builds(services, names, retry, stop));
  sort_by_commit(services, builds);
  const BuildRow* before = nullptr;
  for (const auto& build : builds) {
    TW_TRY_VOID(open_comparison(services, build, before));
    before = &build;
  }
  return storage::ComparisonStore(services.database).unfinished();
}

}  // namespace torchwatch::nightly
