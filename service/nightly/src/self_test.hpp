#pragma once

#include "torchwatch/nightly/plan.hpp"
#include "torchwatch/nightly/workshop.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::nightly {

/// Opens the night in which one cell of `plan` compares the nightly's candidate with itself, by the
/// nightly's own rule: whatever it calls changed is a false alarm. Cells take turns. Call inside
/// the transaction that ends the nightly.
Status open_self_test(Workshop&, const storage::NightRow& nightly, const Plan& plan);

}  // namespace torchwatch::nightly
