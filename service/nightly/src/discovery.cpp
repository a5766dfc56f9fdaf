#include "torchwatch/nightly/discovery.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "offered_file.hpp"
#include "torchwatch/channel/fingerprint.hpp"
#include "torchwatch/comparison/build_preparer.hpp"
#include "torchwatch/comparison/series_settings.hpp"
#include "torchwatch/documents/plan.hpp"
#include "torchwatch/nightly/source_commits.hpp"
#include "torchwatch/report/newest_nightly.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"

namespace torchwatch::nightly {
namespace {

using channel::Offer;
using storage::BuildRow;

struct PositionedBuild {
  BuildRow build;
  std::int64_t position = 0;
};

/// How a look at the channel is done.
struct Look {
  std::stop_token stop;
  Retry retry = Retry::now;
  const MayFetch& may_fetch;

  Result<bool> may() const { return may_fetch ? may_fetch() : true; }
};

/// Brings a build here and checks it.
Result<BuildRow> make_ready(comparison::Services& services, BuildRow row, const Offer& offer,
                            std::stop_token stop) {
  const auto tree = services.channel.fetch(offer, stop);
  // The channel has just listed it: what it lacks it may have soon, or it lists it no longer.
  if (!tree && tree.error().code == ErrorCode::not_found) {
    return fail(tree.error().as(ErrorCode::unavailable));
  }
  if (!tree) return fail(tree.error());
  row.fingerprint = offer.fingerprint;
  return comparison::mark_ready(services, std::move(row), *tree,
                                trunk_commit_of(services, *tree, std::move(stop)));
}

/// A build that came while [source] did not know its commit learns its trunk commit once it does.
Result<BuildRow> placed(comparison::Services& services, BuildRow row) {
  if (services.history == nullptr || row.trunk_commit != row.embedded_commit) return row;
  auto trunk = services.history->trunk_commit(row.embedded_commit);
  if (!trunk || *trunk == row.trunk_commit) return row;
  row.trunk_commit = *std::move(trunk);
  return storage::BuildStore(services.database).mark_ready(row);
}

/// Keeps what the channel says now of the same file and did not say before: it may be what tells
/// the next file apart.
Result<BuildRow> learned(comparison::Services& services, BuildRow row, const Offer& offer) {
  if (row.fingerprint.empty() || is_replaced(row, offer)) return row;
  auto all = channel::joined_fingerprint(row.fingerprint, offer.fingerprint);
  if (all == row.fingerprint) return row;
  storage::BuildStore store(services.database);
  if (row.state == storage::BuildState::rejected) return store.reject(row.id, row.reason, all);
  row.fingerprint = std::move(all);
  return store.mark_ready(row);
}

/// Lets a nightly be measured again whose files are back.
Result<BuildRow> taken_back(comparison::Services& services, const BuildRow& row) {
  storage::ComparisonStore comparisons(services.database);
  storage::BuildStore builds(services.database);
  TW_TRY(const auto nightly, comparisons.nightly_of(row.id));
  if (nightly && nightly->state == storage::ComparisonState::refused) {
    const auto due = comparisons.retry(nightly->id);
    if (!due) return fail(due.error());
  }
  TW_TRY_VOID(builds.set_unusable(row.id, ""));
  services.progress.log("the files of nightly " + row.name + " are back");
  return builds.get(row.id);
}

/// A folder that could not be measured may have been mended: its files are back, or others lie in
/// their place, which are another build.
Result<BuildRow> mended(comparison::Services& services, BuildRow row, const Offer& offer,
                        const Look& look) {
  const bool may_be = !row.unusable.empty() && offer.fingerprint.empty();
  if (!may_be) return row;
  TW_TRY(const bool may, look.may());
  if (!may) return row;
  const auto tree = services.channel.fetch(offer, look.stop);
  if (!tree) return row;
  if (tree->content_hash != row.content_hash) {
    services.progress.log("nightly " + row.name + " has changed: it is taken as another build");
    return storage::BuildStore(services.database).replace(row);
  }
  return row.unusable.starts_with(kFilesGone) ? taken_back(services, row) : row;
}

/// The row of the file that is offered now.
Result<BuildRow> row_of(comparison::Services& services, const Offer& offer, const Look& look) {
  storage::BuildStore store(services.database);
  TW_TRY(auto row, store.discover(storage::BuildOrigin::nightly, offer.name));
  TW_TRY(row, learned(services, std::move(row), offer));
  if (row.state != storage::BuildState::ready) return row;
  if (!is_replaced(row, offer)) return mended(services, std::move(row), offer, look);
  services.progress.log("nightly " + row.name + " has been replaced in the channel: fetching it");
  return store.replace(row);
}

Status reject(comparison::Services& services, const BuildRow& row, const Offer& offer,
              const std::string& reason) {
  const auto refused = channel::refused_fingerprint(offer.fingerprint, services.channel.manner());
  const auto rejected = storage::BuildStore(services.database).reject(row.id, reason, refused);
  return rejected ? Status{} : Status{fail(rejected.error())};
}

/// Fetches a build that is not at hand. One that cannot be had is rejected, or left for later.
Result<BuildRow> fetch(comparison::Services& services, const BuildRow& row, const Offer& offer,
                       const Look& look) {
  const auto manner = services.channel.manner();
  if (stays_rejected(row, offer, manner)) return row;
  const storage::ItemKey key{storage::ItemKind::build, row.name};
  TW_TRY(const bool due, is_due(services, key));
  if (!due && look.retry == Retry::when_due) return row;
  TW_TRY(const bool may, look.may());
  if (!may) return row;
  auto now = row;
  const WorkItem item{
      .key = key,
      .work = [&]() -> Status {
        const auto made = make_ready(services, row, offer, look.stop);
        if (made) {
          now = *made;
          return {};
        }
        if (!is_known(row, offer, manner, made.error())) return fail(made.error());
        // Where an index does not say whether it has another file by now, it is asked ever later.
        const bool is_unsaid = offer.fingerprint.empty() && services.channel.at_first();
        return is_unsaid ? fail(made.error().as(ErrorCode::unavailable)) : Status{};
      },
      .end = [&](Failure,
                 const std::string& reason) { return reject(services, row, offer, reason); }};
  TW_TRY_VOID(attend(services, item));
  return storage::BuildStore(services.database).get(now.id);
}

/// Whether the service met the build while it followed the channel. One that was fetched by its
/// name has no place among the others.
bool is_followed(const BuildRow& row) {
  const bool is_named = row.state == storage::BuildState::ready && row.place == 0;
  return row.origin == storage::BuildOrigin::nightly && !is_named;
}

/// Leaves out what was published before the service began to follow the channel: an index has
/// hundreds of builds, and each takes gigabytes.
Result<std::vector<Offer>> followed(comparison::Services& services, std::vector<Offer> offers) {
  const auto at_first = services.channel.at_first();
  if (!at_first || offers.size() <= *at_first) return offers;
  TW_TRY(const auto builds, storage::BuildStore(services.database).list());
  const auto is_known = [&](const Offer& offer) {
    return std::ranges::any_of(
        builds, [&](const BuildRow& row) { return row.name == offer.name && is_followed(row); });
  };
  const auto newest = offers.end() - static_cast<std::ptrdiff_t>(*at_first);
  offers.erase(offers.begin(), std::find_if(offers.begin(), newest, is_known));
  return offers;
}

/// Fetches new commits. A server that is gone keeps no nightly from its comparison.
Status refresh_source(comparison::Services& services, const Look& look) {
  if (services.source == nullptr) return {};
  const WorkItem item{.key = {storage::ItemKind::source, "fetch"},
                      .work = [&] { return fetch_source(services, look.stop); },
                      .end = [](Failure, const std::string&) { return Status{}; }};
  TW_TRY(const bool due, is_due(services, item.key));
  if (!due && look.retry == Retry::when_due) return {};
  TW_TRY(const bool may, look.may());
  if (!may) return {};
  const auto attended = attend(services, item);
  return attended ? Status{} : Status{fail(attended.error())};
}

struct FoundBuilds {
  std::vector<BuildRow> ready;  ///< those that can be measured, in the channel's order
  bool has_new = false;         ///< one was not ready before
};

Result<FoundBuilds> find_builds(comparison::Services& services, const std::vector<Offer>& offers,
                                const Look& look) {
  FoundBuilds found;
  for (const auto& offer : offers) {
    TW_TRY(auto row, row_of(services, offer, look));
    const bool was_ready = row.state == storage::BuildState::ready;
    if (!was_ready) {
      TW_TRY(row, fetch(services, row, offer, look));
    }
    if (!row.is_measurable()) continue;
    found.has_new = found.has_new || !was_ready;
    TW_TRY(row, placed(services, std::move(row)));
    found.ready.push_back(std::move(row));
  }
  return found;
}

/// A build that the channel does not list any more, and that never came, waits for nothing.
Status forget_unlisted(comparison::Services& services, const std::vector<Offer>& offers) {
  storage::SetbackStore setbacks(services.database);
  TW_TRY(auto waiting, setbacks.list());
  std::erase_if(waiting, [&](const storage::SetbackRow& row) {
    return row.key.kind != storage::ItemKind::build ||
           std::ranges::find(offers, row.key.item, &Offer::name) != offers.end();
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

/// Returns whether `older` is known to come before the first of the builds that the channel lists:
/// by their commits, else by the places that they had.
bool comes_before(comparison::Services& services, const BuildRow& older,
                  const std::vector<BuildRow>& listed) {
  const auto& first = listed.front();
  if (services.history != nullptr) {
    const auto& branch = services.config.source.branch;
    const auto one = services.history->position(older.trunk_commit, branch);
    const auto other = services.history->position(first.trunk_commit, branch);
    if (one && other) return *one < *other;
  }
  if (first.place > 0) return older.place < first.place;
  return std::ranges::all_of(listed, [](const BuildRow& row) { return row.place == 0; });
}

/// Returns what the oldest nightly that the channel lists is to be compared with, unless it has had
/// its comparison: the newest one at hand that comes before all. An index forgets its old ones.
Result<std::optional<BuildRow>> before_all(comparison::Services& services,
                                           const std::vector<BuildRow>& listed) {
  std::optional<BuildRow> newest;
  if (listed.empty()) return newest;
  TW_TRY(const auto known,
         storage::ComparisonStore(services.database).nightly_of(listed.front().id));
  if (known && known->state != storage::ComparisonState::refused) return newest;
  TW_TRY(auto builds, storage::BuildStore(services.database).list());
  for (auto& build : builds) {
    const bool is_placed = build.origin == storage::BuildOrigin::nightly && build.place > 0;
    if (!is_placed || !build.is_measurable() || (newest && build.place < newest->place)) continue;
    std::error_code ignored;
    const bool is_at_hand = std::filesystem::exists(build.folder, ignored);
    const bool is_listed = std::ranges::find(listed, build.name, &BuildRow::name) != listed.end();
    if (is_at_hand && !is_listed && comes_before(services, build, listed)) newest = build;
  }
  return newest;
}

/// Notes in which order the builds follow one another, after `place`. The places of those that the
/// channel does not list any more stay as they are.
Status note_places(comparison::Services& services, std::vector<BuildRow>& ready,
                   std::int64_t place) {
  storage::BuildStore store(services.database);
  for (auto& build : ready) {
    place = std::max(place + 1, build.place);
    if (build.place == place) continue;
    build.place = place;
    TW_TRY_VOID(store.set_place(build.id, place));
  }
  return {};
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

Status fetch_again(comparison::Services& services, channel::Channel& channel, const BuildRow& build,
                   std::stop_token stop) {
  TW_TRY(const auto tree, channel.fetch({build.name, build.fingerprint}, stop));
  TW_TRY(const auto row,
         comparison::mark_ready(services, build, tree, trunk_commit_of(services, tree, stop)));
  if (row.id == build.id) return {};
  return fail(ErrorCode::conflict, "what is published now is another build");
}

}  // namespace

Status restore_tree(comparison::Services& services, const BuildRow& build, std::stop_token stop) {
  std::error_code error;
  if (std::filesystem::exists(build.folder, error)) return {};
  const bool is_release = build.origin == storage::BuildOrigin::release;
  const bool is_published = is_release || build.origin == storage::BuildOrigin::nightly;
  auto* const channel = is_release ? services.releases : &services.channel;
  if (!is_published || channel == nullptr) return {};
  const auto fetched = fetch_again(services, *channel, build, std::move(stop));
  if (fetched) return {};
  const auto& [code, message, remedy] = fetched.error();
  return fail(code, std::string(kFilesGone) + message, remedy);
}

Result<std::vector<storage::ComparisonRow>> discover_comparisons(comparison::Services& services,
                                                                 std::stop_token stop, Retry retry,
                                                                 const MayFetch& may_fetch) {
  const Look look{.stop = std::move(stop), .retry = retry, .may_fetch = may_fetch};
  TW_TRY_VOID(refresh_source(services, look));
  TW_TRY(auto listed, services.channel.list(look.stop));
  TW_TRY(const auto offers, followed(services, std::move(listed)));
  TW_TRY(auto found, find_builds(services, offers, look));
  TW_TRY_VOID(forget_unlisted(services, offers));
  sort_by_commit(services, found);
  TW_TRY(const auto unlisted, before_all(services, found.ready));
  TW_TRY_VOID(note_places(services, found.ready, unlisted ? unlisted->place : 0));
  const BuildRow* before = unlisted ? &*unlisted : nullptr;
  for (const auto& build : found.ready) {
    TW_TRY_VOID(open_comparison(services, build, before));
    before = &build;
  }
  return storage::ComparisonStore(services.database).unfinished();
}

Result<detect::Settings> settings_of_next(const config::Config& config, storage::Database& database,
                                          const Series& series) {
  comparison::Rule rule;
  TW_TRY(const auto newest, report::newest_nightly(database));
  if (newest.judged) {
    const auto plan = comparison::parse_plan(newest.judged->plan_json);
    if (plan) rule = comparison::rule_of(*newest.judged, *plan);
  }
  return comparison::series_settings(config, rule).of(series);
}

}  // namespace torchwatch::nightly
