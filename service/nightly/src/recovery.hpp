#pragma once

#include <vector>

#include "torchwatch/nightly/comparison.hpp"
#include "torchwatch/nightly/workshop.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::nightly {

/// Opens, for each incident that an earlier build brought and that is not closed, a comparison of
/// this night's candidate with the incident's last good build, of the incident's series alone. Call
/// inside the transaction that ends the night; what it opened is unfinished work like any night.
Status open_rechecks(Workshop&, const storage::NightRow& night);

/// Closes the incident that such a comparison is about, with a comment, where nothing of it is
/// left. Call inside the transaction of its verdicts, after them.
Status conclude_recheck(Workshop&, const storage::NightRow& recheck, storage::Id incident,
                        const std::vector<Finding>&);

}  // namespace torchwatch::nightly
