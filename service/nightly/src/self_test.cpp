#include "self_test.hpp"

#include "torchwatch/storage/night_store.hpp"

namespace torchwatch::nightly {

Status open_self_test(Workshop& workshop, const storage::NightRow& nightly, const Plan& plan) {
  if (plan.cells.empty()) return {};
  storage::NightStore nights(workshop.database);
  TW_TRY(const int turn, nights.nightlies_until(nightly.id));
  auto own = plan;
  own.cells = {plan.cells[static_cast<std::size_t>(turn) % plan.cells.size()]};
  own.of_cells = static_cast<int>(plan.cells.size());
  own.finds_incidents = false;
  TW_TRY(const auto test, nights.opened(storage::NightKind::self_test, nightly.candidate,
                                        nightly.candidate, workshop.clock.wall_now()));
  TW_TRY_VOID(nights.planned(test, to_json(own)));
  return {};
}

}  // namespace torchwatch::nightly
