#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "torchwatch/records/run_result.hpp"

namespace torchwatch::activity {

/// The kinds of a device's work. Copies differ by direction; arrays count as device memory.
enum class Kind {
  kernel,
  memset,
  graph,  ///< a whole CUDA graph, whose kernels and copies are not recorded
  host_to_device,
  device_to_host,
  device_to_device,
  peer,          ///< to or from another device
  host_to_host,  ///< no work of the device
  unknown_copy,
};

/// "kernel", "copy, host to device"
std::string_view to_string(Kind kind);

/// One piece of work of one device, from its start to its end, in ns of the recording's clock.
struct Activity {
  Kind kind = Kind::kernel;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t device = 0;
  std::uint32_t stream = 0;
  std::int64_t bytes = 0;      ///< for copies and memsets
  std::string_view name = {};  ///< a kernel's, mangled; whoever made the recording keeps it
};

/// Time from `begin_ns` to `end_ns`, without the latter.
struct Window {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t length_ns() const { return end_ns - begin_ns; }
};

/// The shares of a window of one device's time, and the figures that other definitions of them need
/// (PyTorch's TensorBoard plugin takes kernels alone, HTA counts memset apart).
struct WindowBreakdown {
  /// Active: some kernel, memset, graph or copy within the device runs. Copy: none of these does,
  /// but data moves to or from the device. Idle: the rest. The three sum to the window.
  Breakdown shares;
  std::int64_t copy_total_ns = 0;  ///< data moves to or from the device, whatever else runs
  std::int64_t overlap_ns = 0;     ///< the part of it while the device is active as well
  std::int64_t memset_ns = 0;
  std::int64_t device_to_device_ns = 0;
  std::map<Kind, std::int64_t> bytes;  ///< copied, by direction, by copies that touch the window
  std::int64_t kernels = 0;            ///< that touch the window
  std::int64_t clipped_ns = 0;         ///< parts of what touches the window that lie outside it
};

/// Returns whether any of the activity's time is in the window.
bool touches(const Activity& activity, Window window);

/// Breaks the window down by the activities of one device, in whole nanoseconds. They may overlap,
/// repeat and lie outside; no end may come before its start.
WindowBreakdown break_down(const std::vector<Activity>& activities, Window window);

}  // namespace torchwatch::activity
