#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "torchwatch/records/run_result.hpp"

namespace torchwatch::activity {

/// What a device did. Copies are told by their direction; of arrays in device memory as of any
/// other device memory.
enum class Kind {
  kernel,
  memset,
  graph,  ///< a whole CUDA graph, whose kernels and copies are not told
  host_to_device,
  device_to_host,
  device_to_device,
  peer,          ///< to or from another device
  host_to_host,  ///< no work of the device
  unknown_copy,
};

/// "kernel", "copy, host to device"
std::string_view to_string(Kind kind);

/// One piece of work of one device, from its start to its end, ns of the recording's clock.
struct Activity {
  Kind kind = Kind::kernel;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t device = 0;
  std::uint32_t stream = 0;
  std::int64_t bytes = 0;      ///< of copies and memsets
  std::string_view name = {};  ///< a kernel's, mangled; whoever made the recording keeps it
};

/// Time from `begin_ns` to `end_ns`, without the latter.
struct Window {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t length_ns() const { return end_ns - begin_ns; }
};

/// A window of one device's time, and what other definitions of the shares need (PyTorch's
/// TensorBoard plugin takes kernels alone, HTA counts memset apart).
struct WindowBreakdown {
  /// Active: some kernel, memset, graph or copy within the device runs. Copy: none of these does,
  /// but data moves to or from the device. Idle: the rest. The three sum to the window.
  Breakdown shares;
  std::int64_t copy_total_ns = 0;  ///< data moves to or from the device, whatever else runs
  std::int64_t overlap_ns = 0;     ///< of these, while the device is active as well
  std::int64_t memset_ns = 0;
  std::int64_t device_to_device_ns = 0;
  std::map<Kind, std::int64_t> bytes;  ///< of the copies that touch the window, by direction
  std::int64_t kernels = 0;            ///< that touch the window
  std::int64_t clipped_ns = 0;         ///< parts of what touches the window that lie outside it
};

/// Whether any of the activity's time is in the window.
bool touches(const Activity& activity, Window window);

/// Breaks the window down by the activities of one device, in whole nanoseconds (measurement.md
/// 1.7). They may overlap, repeat and lie outside; no end may come before its start.
WindowBreakdown break_down(const std::vector<Activity>& activities, Window window);

}  // namespace torchwatch::activity
