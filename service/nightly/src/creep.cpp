#include "creep.hpp"

#include <algorithm>
#include <map>

#include "torchwatch/nightly/plan.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/night_store.hpp"

namespace torchwatch::nightly {
namespace {

using storage::IncidentRow;
using storage::NightRow;

constexpr int kIncidentsMax = 1000;

/// Whether a comparison falls to this nightly, or fell to one before that was not measured.
bool is_due(int position, const std::vector<NightRow>& before, int every) {
  const auto measured =
      std::ranges::find_if(before, [](const NightRow& night) { return !night.plan_json.empty(); });
  const int skipped = static_cast<int>(measured - before.begin());
  return position / every != (position - 1 - skipped) / every;
}

/// The nightlies before that one, each build once: a nightly that arrived late gives the one after
/// it a second night.
Result<std::vector<NightRow>> earlier_nightlies(storage::NightStore& nights,
                                                const NightRow& nightly, int limit) {
  TW_TRY(const auto rows, nights.nightlies_before(nightly.id, limit));
  std::vector<NightRow> earlier;
  for (const auto& row : rows) {
    const bool is_known =
        row.candidate == nightly.candidate ||
        std::ranges::find(earlier, row.candidate, &NightRow::candidate) != earlier.end();
    if (!is_known) earlier.push_back(row);
  }
  return earlier;
}

bool lies_there(const storage::BuildRow& build) {
  const auto tree = builds::inspect(build.folder);
  return tree && tree->content_hash == build.content_hash;
}

/// The place in `before` of the oldest nightly that can be measured again; 0, the baseline that was
/// measured anyway, where there is none.
Result<std::size_t> oldest_at_hand(Workshop& workshop, const std::vector<NightRow>& before,
                                   const std::string& candidate_hash) {
  storage::BuildStore builds(workshop.database);
  for (std::size_t at = before.size(); at > 1; --at) {
    TW_TRY(const auto build, builds.get(before[at - 1].candidate));
    if (build.content_hash != candidate_hash && lies_there(build)) return at - 1;
  }
  return 0;
}

/// A change that stays, for now or for good. What was closed as mended has to show that it is.
bool is_known(const IncidentRow& incident) {
  return incident.acceptance || incident.state != storage::IncidentState::closed;
}

/// For each cell the place in `before` of the newest build that brought a change known of it.
Result<std::map<Cell, std::size_t>> known_changes(Workshop& workshop, const NightRow& nightly,
                                                  const std::vector<NightRow>& before) {
  storage::NightStore nights(workshop.database);
  TW_TRY(const auto incidents, storage::IncidentStore(workshop.database).list(kIncidentsMax));
  std::map<Cell, std::size_t> places;
  for (const auto& incident : incidents) {
    if (!is_known(incident)) continue;
    TW_TRY(const auto found_by, nights.get(incident.night));
    auto place = std::ranges::find(before, found_by.candidate, &NightRow::candidate);
    if (found_by.candidate == nightly.candidate) place = before.begin();
    if (place == before.end()) continue;
    for (const auto& target : incident.targets) {
      const auto at = static_cast<std::size_t>(place - before.begin());
      const auto [known, is_new] = places.emplace(target.target.cell, at);
      if (!is_new) known->second = std::min(known->second, at);
    }
  }
  return places;
}

Status open_comparison(Workshop& workshop, const NightRow& nightly, const NightRow& reference,
                       const Plan& plan) {
  storage::NightStore nights(workshop.database);
  TW_TRY(const auto night, nights.opened(storage::NightKind::compare, nightly.candidate,
                                         reference.candidate, workshop.clock.wall_now()));
  TW_TRY_VOID(nights.planned(night, to_json(plan)));
  return {};
}

}  // namespace

Status open_creep_comparisons(Workshop& workshop, const NightRow& nightly) {
  const auto& settings = workshop.config.detect;
  if (settings.creep_every == 0) return {};
  storage::NightStore nights(workshop.database);
  TW_TRY(const auto before, earlier_nightlies(nights, nightly, settings.creep_span));
  TW_TRY(const int position, nights.nightlies_until(nightly.id));
  if (!is_due(position, before, settings.creep_every)) return {};
  TW_TRY(const auto candidate, storage::BuildStore(workshop.database).get(nightly.candidate));
  TW_TRY(const auto oldest, oldest_at_hand(workshop, before, candidate.content_hash));
  TW_TRY(const auto known, known_changes(workshop, nightly, before));
  TW_TRY(auto plan, parse_plan(nightly.plan_json));

  std::map<std::size_t, std::vector<Cell>> cells_of;  // by the place of what they are compared with
  for (const auto& cell : plan.cells) {
    const auto change = known.find(cell);
    const auto place = change == known.end() ? oldest : std::min(oldest, change->second);
    if (place > 0) cells_of[place].push_back(cell);
  }
  plan.of_cells = static_cast<int>(plan.cells.size());
  for (auto& [place, cells] : cells_of) {
    plan.cells = std::move(cells);
    plan.nightlies_back = static_cast<int>(place) + 1;
    TW_TRY_VOID(open_comparison(workshop, nightly, before[place], plan));
  }
  return {};
}

}  // namespace torchwatch::nightly
