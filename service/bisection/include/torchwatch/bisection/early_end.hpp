#pragma once

#include <string>
#include <string_view>

#include "torchwatch/comparison/services.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::bisection {

/// Stands behind the reason of a search that ended early and names a culprit all the same.
inline constexpr std::string_view kConfirmedBefore = "; what is named was confirmed before";

/// Returns why a search ends that somebody cancelled: "cancelled by uid 1000".
std::string cancelled_by(const storage::Asker&);

/// Returns the reason of a search that ended for a place that may be public: as public_text says
/// who cancelled it, if that is the reason.
std::string public_reason(const std::string& reason);

/// Ends an open bisection for that reason before its search has come to an answer. The culprits
/// that it has confirmed by then are kept. Reads nothing but the database, so any thread may call
/// it while another one carries the bisection out. Errors: conflict (it has ended), of storage.
Status end_early(comparison::Services&, storage::Id bisection, const std::string& reason);

}  // namespace torchwatch::bisection
