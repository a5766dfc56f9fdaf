#pragma once

#include <string>

#include "torchwatch/storage/rows.hpp"

namespace torchwatch::requests {

/// Returns what was asked for: "right against left, dlrm, cpu-train, now". Empty where what is
/// stored cannot be read.
std::string asked_text(const storage::RequestRow&);

/// Returns what it led to: "comparison 4", or the reason why it led to nothing.
std::string result_text(const storage::RequestRow&);

}  // namespace torchwatch::requests
