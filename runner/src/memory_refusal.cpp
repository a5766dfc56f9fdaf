#include "torchwatch/runner/memory_refusal.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "torchwatch/models/memory_estimate.hpp"
#include "torchwatch/runner/machine_memory.hpp"
#include "torchwatch/runner/measure.hpp"
#include "torchwatch/runner/process_isolation.hpp"
#include "torchwatch/runner/process_memory.hpp"
#include "torchwatch/torch/libtorch.hpp"

namespace torchwatch::runner {
namespace {

std::string in_gib(std::int64_t bytes) {
  constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;
  const double gib = static_cast<double>(bytes) / kGibibyte;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), gib < 1 ? "%.2f GiB" : "%.1f GiB", gib);
  return text.data();
}

const char* advice(const models::Definition& definition, const models::Setup& setup, int batch) {
  const bool smaller_batch = definition.batch_rule == models::BatchRule::any && batch > 1;
  const bool smaller_preset = setup.preset == models::Preset::paper;
  if (smaller_batch && smaller_preset) return "name a smaller batch or the small preset";
  if (smaller_batch) return "name a smaller batch";
  if (smaller_preset) return "name the small preset";
  return "it needs more memory than that";
}

std::optional<MemoryBound> device_bound(models::Device device) {
  const auto free_bytes = device_bytes_free(device);
  if (!free_bytes) return {};
  return MemoryBound{usable_bytes(*free_bytes), "the device can give"};
}

std::optional<MemoryBound> host_bound(const protocol::RunLimits& limits) {
  std::optional<MemoryBound> bound;
  if (const auto available = machine_memory_available()) {
    bound = {usable_bytes(*available), "this machine can give"};
  }
  if (limits.memory_bytes == 0) return bound;
  const auto left = std::max<std::int64_t>(0, limits.memory_bytes - resident_bytes().value_or(0));
  if (!bound || left < bound->bytes) bound = {left, "its memory limit leaves"};
  return bound;
}

}  // namespace

std::string memory_refusal(std::int64_t needed, const MemoryBound& bound,
                           const models::Definition& definition, const models::Setup& setup) {
  if (needed <= bound.bytes) return {};
  const int batch = models::batch_of(definition, setup);
  return "needs about " + in_gib(needed) + " at batch " + std::to_string(batch) + " and " +
         std::string(bound.giver) + " " + in_gib(bound.bytes) + "; " +
         advice(definition, setup, batch);
}

std::string memory_refusal(const models::Entry& entry, const protocol::Request& request) {
  const auto setup = setup_of(request);
  const auto estimate = models::estimate_memory(entry, setup);
  if (!estimate) return {};
  const bool on_device = setup.device == models::Device::cuda;
  const auto bound = on_device ? device_bound(setup.device) : host_bound(request.limits);
  if (!bound) return {};
  const auto needed = on_device ? estimate->allocated : estimate->resident;
  return memory_refusal(needed, *bound, entry.definition, setup);
}

std::string memory_exhaustion(const models::Definition& definition,
                              const protocol::Request& request) {
  const auto setup = setup_of(request);
  const int batch = models::batch_of(definition, setup);
  const auto limit = data_limit();
  return "the workload ran out of memory at batch " + std::to_string(batch) +
         (limit ? " and may take " + in_gib(*limit) : "") + "; " + advice(definition, setup, batch);
}

}  // namespace torchwatch::runner
