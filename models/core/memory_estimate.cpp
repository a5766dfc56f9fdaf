#include "torchwatch/models/memory_estimate.hpp"

#include <algorithm>
#include <new>
#include <string_view>

namespace torchwatch::models {
namespace {

/// Peak bytes as a function of the batch. Below some batch the peak does not lie in the activations
/// but elsewhere, mostly in the optimiser's step, and hardly moves: that is `least`.
struct Peak {
  std::int64_t least = 0;
  std::int64_t fixed = 0;
  std::int64_t per_item = 0;
};

struct Figures {
  std::string_view workload;
  Mode mode = Mode::train;
  Peak allocated;
  Peak resident;
};

// At the paper's sizes. memory_table.inc is written by tests/experiments/memory_estimates.py.
constexpr Figures kMeasured[] = {
#include "memory_table.inc"
};

std::int64_t peak_at(const Peak& peak, int batch) {
  return std::max(peak.least, peak.fixed + batch * peak.per_item);
}

}  // namespace

std::optional<MemoryEstimate> estimate_memory(const Entry& entry, const Setup& setup) {
  if (setup.preset != Preset::paper || setup.precision != Precision::fp32) return {};
  const auto* figures = std::ranges::find_if(kMeasured, [&](const Figures& each) {
    return each.workload == entry.name && each.mode == setup.mode;
  });
  if (figures == std::end(kMeasured)) return {};
  const int batch = batch_of(entry.definition, setup);
  return MemoryEstimate{.allocated = peak_at(figures->allocated, batch),
                        .resident = peak_at(figures->resident, batch)};
}

// LibTorch's CPU allocator has no error type of its own, only a text.
bool is_out_of_memory(const std::exception& error) {
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
         std::string_view(error.what()).find("DefaultCPUAllocator: can't allocate memory") !=
             std::string_view::npos;
}

}  // namespace torchwatch::models
