#include "torchwatch/activity/breakdown.hpp"

#include <algorithm>
#include <utility>

namespace torchwatch::activity {
namespace {

/// Returns whether the work is done within the device. A copy within it keeps it as busy as a
/// kernel.
bool is_active(Kind kind) {
  return kind == Kind::kernel || kind == Kind::memset || kind == Kind::graph ||
         kind == Kind::device_to_device;
}

/// Returns whether data crosses the device's border; a copy of unknown direction may be one.
bool is_crossing(Kind kind) {
  return kind == Kind::host_to_device || kind == Kind::device_to_host || kind == Kind::peer ||
         kind == Kind::unknown_copy;
}

bool is_copy(Kind kind) {
  return kind != Kind::kernel && kind != Kind::memset && kind != Kind::graph;
}

Window clipped(const Activity& activity, Window window) {
  return {std::max(activity.start_ns, window.begin_ns), std::min(activity.end_ns, window.end_ns)};
}

/// The time that at least one of the intervals covers.
std::int64_t covered_ns(std::vector<Window> intervals) {
  std::sort(intervals.begin(), intervals.end(),
            [](Window a, Window b) { return a.begin_ns < b.begin_ns; });
  std::int64_t sum = 0;
  std::int64_t reached = intervals.empty() ? 0 : intervals.front().begin_ns;
  for (const auto& [begin, end] : intervals) {
    const auto fresh = std::max(begin, reached);
    sum += std::max<std::int64_t>(0, end - fresh);
    reached = std::max(reached, end);
  }
  return sum;
}

template <typename Chosen>
std::int64_t covered_by(const std::vector<Activity>& activities, Window window, Chosen is_chosen) {
  std::vector<Window> intervals;
  for (const auto& activity : activities) {
    if (is_chosen(activity.kind)) intervals.push_back(clipped(activity, window));
  }
  return covered_ns(std::move(intervals));
}

}  // namespace

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::kernel:
      return "kernel";
    case Kind::memset:
      return "memset";
    case Kind::graph:
      return "graph";
    case Kind::host_to_device:
      return "copy, host to device";
    case Kind::device_to_host:
      return "copy, device to host";
    case Kind::device_to_device:
      return "copy, device to device";
    case Kind::peer:
      return "copy, between devices";
    case Kind::host_to_host:
      return "copy, host to host";
    case Kind::unknown_copy:
      return "copy, direction unknown";
  }
  return "unknown";
}

bool touches(const Activity& activity, Window window) {
  return activity.start_ns < window.end_ns &&
         (activity.end_ns > window.begin_ns || activity.start_ns >= window.begin_ns);
}

WindowBreakdown break_down(const std::vector<Activity>& activities, Window window) {
  WindowBreakdown result;
  std::vector<Activity> touching;
  for (const auto& activity : activities) {
    if (activity.kind == Kind::host_to_host || !touches(activity, window)) continue;
    touching.push_back(activity);
    result.kernels += activity.kind == Kind::kernel ? 1 : 0;
    if (is_copy(activity.kind)) result.bytes[activity.kind] += activity.bytes;
    const auto inside = clipped(activity, window);
    result.clipped_ns += (activity.end_ns - activity.start_ns) - inside.length_ns();
  }
  const auto covered = [&](auto is_chosen) { return covered_by(touching, window, is_chosen); };
  const auto active = covered(is_active);
  const auto busy = covered([](Kind) { return true; });
  result.shares = {
      .active_ns = active, .copy_ns = busy - active, .idle_ns = window.length_ns() - busy};
  result.copy_total_ns = covered(is_crossing);
  result.overlap_ns = active + result.copy_total_ns - busy;
  result.memset_ns = covered([](Kind kind) { return kind == Kind::memset; });
  result.device_to_device_ns = covered([](Kind kind) { return kind == Kind::device_to_device; });
  return result;
}

}  // namespace torchwatch::activity
