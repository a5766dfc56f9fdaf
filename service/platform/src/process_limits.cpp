#include "torchwatch/platform/process_limits.hpp"

#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>

namespace torchwatch::platform {
namespace {

// Measured by page_costs.py: with 1, 2, 4 and as many arenas as there are threads the daemon has
// 43, 55, 71 and 161 MB after 600 pages; the time of a page is the same.
constexpr int kArenas = 2;
constexpr int kGivenBackFrom = 1 << 20;
constexpr int kOwnMappingFrom = 1 << 18;

}  // namespace

std::uint64_t raise_open_files(std::uint64_t wanted) {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return 0;
  const auto raised = std::min<rlim_t>(wanted, files.rlim_max);
  if (files.rlim_cur >= raised) return files.rlim_cur;
  const rlimit changed{.rlim_cur = raised, .rlim_max = files.rlim_max};
  return setrlimit(RLIMIT_NOFILE, &changed) == 0 ? raised : files.rlim_cur;
}

void keep_memory_low() {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, kArenas);
  // glibc raises both by itself otherwise, to 64 MiB.
  mallopt(M_TRIM_THRESHOLD, kGivenBackFrom);
  mallopt(M_MMAP_THRESHOLD, kOwnMappingFrom);
#endif
}

}  // namespace torchwatch::platform
