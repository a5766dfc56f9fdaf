#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "torchwatch/models/registry.hpp"
#include "torchwatch/protocol/request.hpp"

namespace torchwatch::runner {

/// How much memory can be had, and what sets that bound, for people: "this machine can give".
struct MemoryBound {
  std::int64_t bytes = 0;
  std::string_view giver;
};

/// Why a workload that needs `needed` bytes at its peak is not begun within `bound`, and what to do
/// about it. Empty: it fits.
std::string memory_refusal(std::int64_t needed, const MemoryBound& bound,
                           const models::Definition& definition, const models::Setup& setup);

/// The same for what `request` asks for on this machine, now. Empty also where the workload's need
/// or the machine's memory is not known. Allocates nothing large.
std::string memory_refusal(const models::Entry& entry, const protocol::Request& request);

/// The reason of a run that was begun and whose allocator was refused memory, and what to do.
std::string memory_exhaustion(const models::Definition& definition,
                              const protocol::Request& request);

}  // namespace torchwatch::runner
