#include "torchwatch/runner/process_isolation.hpp"

#include <malloc.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <fstream>

#include "torchwatch/runner/machine_memory.hpp"
#include "torchwatch/runner/process_memory.hpp"

namespace torchwatch::runner {
namespace {

constexpr int kHighestPriority = -20;

// With glibc's moving thresholds page faults can make a workload four times slower, and two builds
// differ by the history of their heaps (docs/measuring.md, "Isolation"). mallopt takes an int.
constexpr int kTrimThreshold = INT_MAX;
constexpr int kMmapThreshold = 33'000'000;
constexpr int kTopPad = 256 << 20;

std::string_view fix_heap() {
  const bool done = mallopt(M_MMAP_THRESHOLD, kMmapThreshold) == 1 &&
                    mallopt(M_TRIM_THRESHOLD, kTrimThreshold) == 1 &&
                    mallopt(M_TOP_PAD, kTopPad) == 1;
  return done ? "glibc, fixed thresholds: mmap 33000000, trim 2147483647, top pad 268435456"
              : "glibc, own thresholds (mallopt refused)";
}

/// The threshold of the memory pass is glibc's first one. glibc would raise it with what is freed,
/// and then the heap's history would decide whether a tensor lies in the heap and what is resident
/// around it: a commit that registers kernels under another name moved the resident peak of
/// timm_vision_transformer's training by 8.5 %.
constexpr int kFirstMmapThreshold = 128 << 10;

std::string_view hold_mmap_threshold() {
  return mallopt(M_MMAP_THRESHOLD, kFirstMmapThreshold) == 1
             ? "glibc, mmap threshold held at 131072"
             : "glibc, own thresholds (mallopt refused)";
}

std::string_view arrange_heap(const protocol::Request& request) {
  if (request.pass == Pass::memory) return hold_mmap_threshold();
  if (protocol::is_timed(request) && request.fixed_heap) return fix_heap();
  return "glibc, own thresholds";
}

bool raise_priority() {
  if (setpriority(PRIO_PROCESS, 0, kHighestPriority) != 0) return false;
  // The kernel divides cores among sessions first. A session that this process does not lead may be
  // a user's shell: a raised session stays raised and starves the others.
  if (getsid(0) != getpid()) return true;
  std::ofstream autogroup("/proc/self/autogroup");
  if (autogroup) autogroup << kHighestPriority << std::flush;  // absent where autogroups are off
  return true;
}

/// Pins to the highest core that this process may use, as the lowest ones serve most interrupts.
/// Whoever started the process may have done so already.
std::string pin_to_one_core() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return "not pinned: affinity unreadable";
  const auto count = sysconf(_SC_NPROCESSORS_ONLN);
  if (count < 2) return "not pinned: one core only";
  int core = CPU_SETSIZE - 1;
  while (!CPU_ISSET(core, &allowed)) --core;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) return "not pinned: refused";
  return "core " + std::to_string(core) + " of " + std::to_string(count);
}

/// Several threads are bound by the environment, before OpenMP is loaded.
std::string placement_of_threads() {
  const char* const binding = std::getenv("OMP_PROC_BIND");
  return binding == nullptr ? "not pinned: several threads"
                            : std::string("threads bound by OpenMP: ") + binding;
}

/// At plain priority neighbours land on the core that the process is pinned to and double the
/// times, so only a process of raised priority is pinned.
std::string place(const protocol::Request& request, bool has_priority) {
  if (!request.pin_to_core) return "not pinned: not asked for";
  if (request.benchmark.variant.threads > 1) return placement_of_threads();
  if (!has_priority) return "not pinned: no raised priority";
  return pin_to_one_core();
}

/// The limit makes allocations fail, which can be reported, before the kernel would kill the
/// process. Not used with a device, whose driver reserves far more than it ever uses.
std::int64_t memory_limit(const protocol::Request& request) {
  const auto asked_for = request.limits.memory_bytes;
  const auto available = machine_memory_available();
  if (!available || request.benchmark.configuration.device == Device::cuda) return asked_for;
  const auto most = resident_bytes().value_or(0) + usable_bytes(*available);
  return asked_for == 0 ? most : std::min(asked_for, most);
}

void limit(const protocol::Request& request) {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  if (const auto bytes = static_cast<rlim_t>(memory_limit(request)); bytes > 0) {
    const rlimit data{bytes, bytes};
    setrlimit(RLIMIT_DATA, &data);
  }
}

}  // namespace

std::map<std::string, std::string> isolate_process(const protocol::Request& request) {
  std::map<std::string, std::string> facts;
  limit(request);
  mallopt(M_ARENA_MAX, 1);  // one heap, whichever thread frees
  const bool timed = protocol::is_timed(request);
  facts["heap"] = arrange_heap(request);
  const bool has_priority = timed && raise_priority();
  facts["priority"] = has_priority ? "raised" : "plain";
  facts["placement"] = timed ? place(request, has_priority) : "not pinned: nothing is timed";
  return facts;
}

std::optional<std::int64_t> data_limit() {
  rlimit data{};
  if (getrlimit(RLIMIT_DATA, &data) != 0 || data.rlim_cur == RLIM_INFINITY) return {};
  return static_cast<std::int64_t>(data.rlim_cur);
}

}  // namespace torchwatch::runner
