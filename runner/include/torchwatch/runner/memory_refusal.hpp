#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "torchwatch/models/registry.hpp"
#include "torchwatch/protocol/request.hpp"

namespace torchwatch::runner {

/// The memory that can be had, and what bounds it, for people: "this machine can give".
struct MemoryBound {
  std::int64_t bytes = 0;
  std::string_view giver;
};

/// The reason why a workload that needs `needed` bytes at its peak does not fit into `bound`, and
/// what to do about it. Empty if it fits.
std::string memory_refusal(std::int64_t needed, const MemoryBound& bound,
                           const models::Definition& definition, const models::Setup& setup);

/// The same for `request` on this machine, now. Empty also if the workload's need or the machine's
/// memory is unknown. Allocates nothing large.
std::string memory_refusal(const models::Entry& entry, const protocol::Request& request);

/// The reason for a run that ran out of memory after it had begun, and what to do.
std::string memory_exhaustion(const models::Definition& definition,
                              const protocol::Request& request);

}  // namespace torchwatch::runner
