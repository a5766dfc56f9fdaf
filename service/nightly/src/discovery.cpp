#include "torchwatch/nightly/discovery.hpp"

#include <algorithm>
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

/// Returns whether the build causes the error, not the environment.
bool is_caused_by_build(const Error& error) {
  return error.code == ErrorCode::invalid || error.code == ErrorCode::corrupt ||
         error.code == ErrorCode::not_found;
}

Result<BuildRow> fetch(comparison::Services& services, BuildRow row, std::stop_token stop) {
  storage::BuildStore store(services.database);
  const auto tree = services.channel.fetch(row.name, stop);
  if (!tree) {
    if (!is_caused_by_build(tree.error())) return fail(tree.error().within("nightly " + row.name));
    if (row.state == storage::BuildState::rejected && row.reason == tree.error().message) {
      return row;
    }
    services.progress.log("nightly " + row.name + " rejected: " + tree.error().message);
    return store.reject(row.id, tree.error().message);
  }
  return comparison::mark_ready(services, std::move(row), *tree, trunk_commit_of(services, *tree));
}

Result<std::vector<BuildRow>> ready_builds(comparison::Services& services, std::stop_token stop) {
  storage::BuildStore store(services.database);
  TW_TRY(const auto names, services.channel.list(stop));
  std::vector<BuildRow> ready;
  for (const auto& name : names) {
    TW_TRY(auto row, store.discover(storage::BuildOrigin::nightly, name));
    if (row.state != storage::BuildState::ready) {
      TW_TRY(row, fetch(services, row, stop));
    }
    if (row.state == storage::BuildState::ready) ready.push_back(std::move(row));
  }
  return ready;
}

/// Sorts builds by their commits if [source] has them all, else keeps the channel's order.
void sort_by_commit(comparison::Services& services, std::vector<BuildRow>& builds) {
  if (services.history == nullptr) return;
  std::vector<PositionedBuild> positioned;
  for (const auto& build : builds) {
    const auto position =
        services.history->position(build.trunk_commit, services.config.source.branch);
    if (!position) {
      services.progress.log("nightly " + build.name + ": commit " + build.trunk_commit +
                            " is not on branch " + services.config.source.branch +
                            " of [source], so nightlies keep the channel's order");
      return;
    }
    positioned.push_back({build, *position});
  }
  std::ranges::stable_sort(positioned, {}, &PositionedBuild::position);
  std::ranges::transform(positioned, builds.begin(), &PositionedBuild::build);
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

Result<std::vector<storage::ComparisonRow>> discover_comparisons(comparison::Services& services,
                                                                 std::stop_token stop) {
  TW_TRY(auto builds, ready_builds(services, stop));
  sort_by_commit(services, builds);
  const BuildRow* before = nullptr;
  for (const auto& build : builds) {
    TW_TRY_VOID(open_comparison(services, build, before));
    before = &build;
  }
  return storage::ComparisonStore(services.database).unfinished();
}

}  // namespace torchwatch::nightly
