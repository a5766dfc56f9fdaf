#include "torchwatch/nightly/discovery.hpp"

#include <algorithm>
#include <optional>

#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/night_store.hpp"

namespace torchwatch::nightly {
namespace {

using storage::BuildRow;

struct Placed {
  BuildRow build;
  std::int64_t position = 0;
};

/// Errors that say something of the build; the others say something of the surroundings.
bool is_builds_fault(const Error& error) {
  return error.code == ErrorCode::invalid || error.code == ErrorCode::corrupt ||
         error.code == ErrorCode::not_found;
}

Result<BuildRow> bring(Workshop& workshop, BuildRow row, std::stop_token stop) {
  storage::BuildStore store(workshop.database);
  const auto tree = workshop.channel.fetch(row.name, stop);
  if (!tree) {
    if (!is_builds_fault(tree.error())) return fail(tree.error().within("nightly " + row.name));
    if (row.state == storage::BuildState::rejected && row.reason == tree.error().message) {
      return row;
    }
    workshop.progress.note("nightly " + row.name + " rejected: " + tree.error().message);
    return store.was_rejected(row.id, tree.error().message);
  }
  row.version = tree->version;
  row.embedded_commit = tree->embedded_commit;
  row.trunk_commit = trunk_commit_of(workshop, *tree);
  row.content_hash = tree->content_hash;
  row.folder = tree->folder.string();
  return store.became_ready(row);
}

Result<std::vector<BuildRow>> ready_builds(Workshop& workshop, std::stop_token stop) {
  storage::BuildStore store(workshop.database);
  TW_TRY(const auto names, workshop.channel.list(stop));
  std::vector<BuildRow> ready;
  for (const auto& name : names) {
    TW_TRY(auto row, store.discovered(storage::BuildOrigin::nightly, name));
    if (row.state != storage::BuildState::ready) {
      TW_TRY(row, bring(workshop, row, stop));
    }
    if (row.state == storage::BuildState::ready) ready.push_back(std::move(row));
  }
  return ready;
}

/// In the order of their commits where [source] knows them all, else in the channel's own.
void order(Workshop& workshop, std::vector<BuildRow>& builds) {
  if (workshop.history == nullptr) return;
  std::vector<Placed> placed;
  for (const auto& build : builds) {
    const auto position =
        workshop.history->position(build.trunk_commit, workshop.config.source.branch);
    if (!position) {
      workshop.progress.note("nightly " + build.name + ": commit " + build.trunk_commit +
                             " is not on " + workshop.config.source.branch +
                             " of [source]; nightlies stay in the channel's order");
      return;
    }
    placed.push_back({build, *position});
  }
  std::ranges::stable_sort(placed, {}, &Placed::position);
  std::ranges::transform(placed, builds.begin(), &Placed::build);
}

Status open_night(Workshop& workshop, const BuildRow& candidate, const BuildRow* baseline) {
  storage::NightStore nights(workshop.database);
  const auto now = workshop.clock.wall_now();
  if (baseline == nullptr) {
    // The oldest that is left, the ones before it having been removed, has had its night.
    TW_TRY(const auto known, nights.nightly_of(candidate.id));
    if (known) return {};
  }
  TW_TRY(const auto night,
         nights.opened(storage::NightKind::nightly, candidate.id,
                       baseline == nullptr ? std::nullopt : std::optional(baseline->id), now));
  if (baseline != nullptr || night.state != storage::NightState::discovered) return {};
  const auto accepted =
      nights.advanced(night, storage::NightState::accepted, now, std::string(kOldestNightly));
  return accepted ? Status{} : Status{fail(accepted.error())};
}

}  // namespace

std::string trunk_commit_of(const Workshop& workshop, const builds::Tree& tree) {
  if (workshop.history == nullptr) return tree.embedded_commit;
  return workshop.history->trunk_commit(tree.embedded_commit).value_or(tree.embedded_commit);
}

Result<std::vector<storage::NightRow>> discover_nights(Workshop& workshop, std::stop_token stop) {
  TW_TRY(auto builds, ready_builds(workshop, stop));
  order(workshop, builds);
  const BuildRow* before = nullptr;
  for (const auto& build : builds) {
    TW_TRY_VOID(open_night(workshop, build, before));
    before = &build;
  }
  return storage::NightStore(workshop.database).unfinished();
}

}  // namespace torchwatch::nightly
