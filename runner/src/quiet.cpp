#include "torchwatch/runner/quiet.hpp"

#include <malloc.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <fstream>

namespace torchwatch::runner {
namespace {

constexpr int kHighestPriority = -20;

// With glibc's moving thresholds a workload can be four times slower by page faults, and two builds
// differ by the history of their heaps (releases.md 3). Values from there, cut to what mallopt
// takes.
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

bool raise_priority() {
  if (setpriority(PRIO_PROCESS, 0, kHighestPriority) != 0) return false;
  // The kernel shares out cores by sessions first. A session that is not ours alone is somebody's
  // shell: what is raised there stays raised and starves the others.
  if (getsid(0) != getpid()) return true;
  std::ofstream autogroup("/proc/self/autogroup");
  if (autogroup) autogroup << kHighestPriority << std::flush;  // absent where autogroups are off
  return true;
}

/// The highest core that this process may use: the lowest ones serve most interrupts.
std::string pin_to_one_core() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return "not pinned: affinity unreadable";
  const int count = CPU_COUNT(&allowed);
  if (count < 2) return "not pinned: one core only";
  int core = CPU_SETSIZE - 1;
  while (!CPU_ISSET(core, &allowed)) --core;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) return "not pinned: refused";
  return "core " + std::to_string(core) + " of " + std::to_string(count);
}

/// At plain priority neighbours land on the core one is pinned to and double the times, so pinning
/// goes with a raised priority or not at all (measurement.md 4.4).
std::string place(const protocol::Request& request, bool has_priority) {
  if (!request.pin_to_core) return "not pinned: not asked for";
  if (request.cell.variant.threads > 1) return "not pinned: several threads";
  if (!has_priority) return "not pinned: no raised priority";
  return pin_to_one_core();
}

void limit(const protocol::RunLimits& limits) {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  if (limits.memory_bytes > 0) {
    const auto bytes = static_cast<rlim_t>(limits.memory_bytes);
    const rlimit data{bytes, bytes};
    setrlimit(RLIMIT_DATA, &data);
  }
}

}  // namespace

std::map<std::string, std::string> make_quiet(const protocol::Request& request) {
  std::map<std::string, std::string> facts;
  limit(request.limits);
  mallopt(M_ARENA_MAX, 1);  // one heap, whichever thread frees
  const bool timing = request.pass == Pass::timing;
  facts["heap"] =
      timing && request.fixed_heap ? fix_heap() : std::string_view("glibc, own thresholds");
  const bool has_priority = timing && raise_priority();
  facts["priority"] = has_priority ? "raised" : "plain";
  facts["placement"] = timing ? place(request, has_priority) : "not pinned: no timing pass";
  return facts;
}

}  // namespace torchwatch::runner
