#include "torchwatch/evidence/pasts.hpp"

namespace torchwatch::evidence {

Result<std::vector<storage::PastValue>> Pasts::of(const Series& series) {
  TW_TRY(const auto nightlies, this->nightlies());
  return storage::past_values(database_, series, *nightlies, limit_);
}

Result<Pasts::Nightlies> Pasts::nightlies() {
  const auto known = [this] {
    const std::scoped_lock lock(mutex_);
    return known_;
  }();
  TW_TRY(const auto added,
         storage::nightlies_after(database_, known->empty() ? 0 : known->back().comparison));
  if (added.empty()) return known;
  auto all = std::make_shared<std::vector<storage::Nightly>>(*known);
  all->insert(all->end(), added.begin(), added.end());
  const std::scoped_lock lock(mutex_);
  known_ = all;
  return all;
}

}  // namespace torchwatch::evidence
