#include "torchwatch/platform/core_affinity.hpp"

namespace torchwatch::platform {
namespace {

std::optional<cpu_set_t> allowed_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return std::nullopt;
  return allowed;
}

int highest_of(const cpu_set_t& cores) {
  int core = CPU_SETSIZE - 1;
  while (core >= 0 && !CPU_ISSET(core, &cores)) --core;
  return core;
}

}  // namespace

int highest_core() {
  const auto allowed = allowed_cores();
  return allowed ? highest_of(*allowed) : -1;
}

OffMeasuredCore::OffMeasuredCore() {
  const auto allowed = allowed_cores();
  if (!allowed || CPU_COUNT(&*allowed) < 2) return;
  auto rest = *allowed;
  CPU_CLR(highest_of(rest), &rest);
  if (sched_setaffinity(0, sizeof rest, &rest) == 0) before_ = allowed;
}

OffMeasuredCore::~OffMeasuredCore() {
  if (before_) sched_setaffinity(0, sizeof *before_, &*before_);
}

}  // namespace torchwatch::platform
