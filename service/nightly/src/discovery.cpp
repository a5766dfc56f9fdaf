#include "torchwatch/nightly/discovery.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "torchwatch/comparison/build_preparer.hpp"
#include "torchwatch/records/printable.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"

namespace torchwatch::nightly {
namespace {

using storage::BuildRow;

struct PositionedBuild {
  BuildRow build;
  std::int64_t position = 0;
};

/// Brings a build here and checks it.
Result<BuildRow> make_ready(comparison::Services& services, const BuildRow& row,
                            std::stop_token stop) {
  TW_TRY(const auto tree, services.channel.fetch(row.name, std::move(stop)));
  return comparison::mark_ready(services, row, tree, trunk_commit_of(services, tree));
}

/// Returns whether the build was rejected for the same reason before: each poll looks at it again,
/// and finds nothing new.
bool is_known(const BuildRow& row, const Error& error) {
  return row.state == storage::BuildState::rejected && row.reason == printable(error.message);
}

Status reject(comparison::Services& services, const BuildRow& row, const std::string& reason) {
  const auto rejected = storage::BuildStore(services.database).reject(row.id, reason);
  return rejected ? Status{} : Status{fail(rejected.error())};
}

/// Fetches a build that is not at hand. One that cannot be had is rejected, or left for later.
Result<BuildRow> fetch(comparison::Services& services, const BuildRow& row, Retry retry,
                       std::stop_token stop) {
  const storage::ItemKey key{storage::ItemKind::build, row.name};
  TW_TRY(const bool due, is_due(services, key));
  if (!due && retry == Retry::when_due) return row;
  auto now = row;
  const WorkItem item{
      .key = key,
      .work = [&]() -> Status {
        const auto made = make_ready(services, row, stop);
        if (made) now = *made;
        return made || is_known(row, made.error()) ? Status{} : Status{fail(made.error())};
      },
      .end = [&](Failure, const std::string& reason) { return reject(services, row, reason); }};
  TW_TRY_VOID(attend(services, item));
  return storage::BuildStore(services.database).get(now.id);
}

struct FoundBuilds {
  std::vector<BuildRow> ready;  ///< those that can be measured, in the channel's order
  bool has_new = false;         ///< one was not ready before
};

Result<FoundBuilds> find_builds(comparison::Services& services,
                                const std::vector<std::string>& names, Retry retry,
                                std::stop_token stop) {
  storage::BuildStore store(services.database);
  FoundBuilds found;
  for (const auto& name : names) {
    TW_TRY(auto row, store.discover(storage::BuildOrigin::nightly, name));
    const bool was_ready = row.state == storage::BuildState::ready;
    if (!was_ready) {
      TW_TRY(row, fetch(services, row, retry, stop));
    }
    const bool is_usable = row.state == storage::BuildState::ready && row.unusable.empty();
    if (!is_usable) continue;
    found.has_new = found.has_new || !was_ready;
    found.ready.push_back(std::move(row));
  }
  return found;
}

/// A build that the channel does not list any more, and that never came, waits for nothing.
Status forget_unlisted(comparison::Services& services, const std::vector<std::string>& names) {
  storage::SetbackStore setbacks(services.database);
  TW_TRY(auto waiting, setbacks.list());
  std::erase_if(waiting, [&](const storage::SetbackRow& row) {
    return row.key.kind != storage::ItemKind::build ||
           std::ranges::find(names, row.key.item) != names.end();
  });
  if (waiting.empty()) return {};
  TW_TRY(const auto builds, storage::BuildStore(services.database).list());
  for (const auto& setback : waiting) {
    const bool is_here = std::ranges::any_of(builds, [&](const BuildRow& row) {
      return row.name == setback.key.item && row.state == storage::BuildState::ready;
    });
    if (!is_here) TW_TRY_VOID(setbacks.clear(setback.key));
  }
  return {};
}

/// Sorts builds by their commits. One whose commit [source] does not have keeps its place in the
/// channel's order.
void sort_by_commit(comparison::Services& services, FoundBuilds& found) {
  auto& builds = found.ready;
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
    if (!found.has_new) continue;
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
  TW_TRY(auto found, find_builds(services, names, retry, stop));
  TW_TRY_VOID(forget_unlisted(services, names));
  sort_by_commit(services, found);
  const BuildRow* before = nullptr;
  for (const auto& build : found.ready) {
    TW_TRY_VOID(open_comparison(services, build, before));
    before = &build;
  }
  return storage::ComparisonStore(services.database).unfinished();
}

}  // namespace torchwatch::nightly
