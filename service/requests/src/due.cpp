#include "torchwatch/requests/due.hpp"

#include <algorithm>
#include <ranges>

#include "torchwatch/builds/tree.hpp"
#include "torchwatch/channel/channel.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"

namespace torchwatch::requests {
namespace {

using storage::BuildRow;
using storage::BuildState;

Result<bool> has_comparison(storage::Database& database, const BuildRow& build) {
  TW_TRY(const auto comparison, storage::ComparisonStore(database).nightly_of(build.id));
  return comparison.has_value();
}

/// Whether a nightly that is published has been dealt with: it has its comparison, or can have
/// none.
Result<bool> is_dealt_with(const config::Config& config, storage::Database& database,
                           const std::vector<BuildRow>& builds, const std::string& name) {
  const auto newest_first = builds | std::views::reverse;
  const auto known = std::ranges::find_if(newest_first, [&](const BuildRow& row) {
    return row.origin == storage::BuildOrigin::nightly && row.name == name;
  });
  if (known == newest_first.end() || known->state == BuildState::discovered) return false;
  // A folder that was rejected may have been mended since.
  if (known->state == BuildState::rejected) return !builds::check_tree(config.channel.path / name);
  if (!known->unusable.empty()) return true;
  return has_comparison(database, *known);
}

}  // namespace

Result<bool> is_anything_due(const config::Config& config, storage::Database& database) {
  TW_TRY(const auto comparisons, storage::ComparisonStore(database).unfinished());
  TW_TRY(const auto searches, storage::BisectionStore(database).unfinished());
  const bool is_index = config.channel.kind != config::ChannelKind::directory;
  if (!comparisons.empty() || !searches.empty() || is_index) return true;
  TW_TRY(const auto offers, channel::make_directory_channel(config.channel.path)->list({}));
  TW_TRY(const auto builds, storage::BuildStore(database).list());
  for (const auto& offer : offers) {
    TW_TRY(const bool is_done, is_dealt_with(config, database, builds, offer.name));
    if (!is_done) return true;
  }
  return false;
}

}  // namespace torchwatch::requests
