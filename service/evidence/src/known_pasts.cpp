#include "torchwatch/evidence/known_pasts.hpp"

#include <algorithm>

namespace torchwatch::evidence {

Result<KnownPasts::Values> KnownPasts::of(const Series& series) {
  // Before the values: what is stored in between is read again next time.
  TW_TRY(const auto newest, storage::newest_verdict(database_));
  if (auto known = known_of(series, newest)) return known;
  TW_TRY(const auto nightlies, this->nightlies());
  TW_TRY(auto read, storage::past_values(database_, series, *nightlies, nightlies_));
  const auto values = std::make_shared<const std::vector<storage::PastValue>>(std::move(read));
  keep({series, newest, values});
  return values;
}

Result<KnownPasts::Nightlies> KnownPasts::nightlies() {
  const auto known = [this] {
    const std::scoped_lock lock(mutex_);
    return known_nightlies_;
  }();
  TW_TRY(const auto added,
         storage::nightlies_after(database_, known->empty() ? 0 : known->back().comparison));
  if (added.empty()) return known;
  auto all = *known;
  all.insert(all.end(), added.begin(), added.end());
  const std::scoped_lock lock(mutex_);
  known_nightlies_ = std::make_shared<const std::vector<storage::Nightly>>(std::move(all));
  return known_nightlies_;
}

KnownPasts::Values KnownPasts::known_of(const Series& series, std::optional<storage::Id> until) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find(known_, series, &Known::series);
  if (found == known_.end() || found->until != until) return nullptr;
  known_.splice(known_.begin(), known_, found);
  return found->values;
}

void KnownPasts::keep(Known known) {
  const std::scoped_lock lock(mutex_);
  known_.remove_if([&](const Known& other) { return other.series == known.series; });
  known_.push_front(std::move(known));
  if (known_.size() > series_) known_.pop_back();
}

}  // namespace torchwatch::evidence
