#include "torchwatch/activity/profile.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <utility>

namespace torchwatch::activity {
namespace {

/// Every workload runs on LibTorch's first device.
constexpr std::uint32_t kDevice = 0;

/// The farthest that a stamp may lie outside of all windows: nothing runs between the waits for the
/// device, so a stamp farther off is wrong.
constexpr std::int64_t kStrayNsMax = 1'000'000;

/// The time between reading two clocks one after the other.
constexpr std::int64_t kClockReadingNs = 20'000;

std::string count_of(std::int64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// The reason why the recording is incomplete; empty if it is complete.
std::string why_incomplete(const Recording& recording) {
  if (recording.dropped > 0) {
    return "CUPTI dropped " + count_of(recording.dropped, "record") +
           ": the iterations launch more than it can keep; profile fewer of them";
  }
  if (recording.unreadable > 0) {
    return count_of(recording.unreadable, "buffer") + " of records could not be read to the end";
  }
  if (recording.never_returned > 0) {
    return "CUPTI kept " + count_of(recording.never_returned, "buffer") + " with records";
  }
  return "";
}

std::string described(const Activity& activity) {
  return std::string(to_string(activity.kind)) + " from " + std::to_string(activity.start_ns) +
         " to " + std::to_string(activity.end_ns);
}

/// The reason why a record's stamps are wrong; empty if they are right. CUPTI stamps 0 where it had
/// no memory for times.
std::string_view why_stamped_wrongly(const Activity& activity, Window all) {
  if (activity.start_ns <= 0 || activity.end_ns <= 0) return "a record without times: a ";
  if (activity.end_ns < activity.start_ns) return "a record that ends before it starts: a ";
  if (activity.start_ns < all.begin_ns - kStrayNsMax) {
    return "a record from before the first iteration: a ";
  }
  if (activity.end_ns > all.end_ns + kStrayNsMax) {
    return "a record from after the last iteration: a ";
  }
  return "";
}

/// CUPTI's clock is the wall clock, which can be set; the other cannot.
std::string why_window_wrong(const Iteration& iteration) {
  const auto length = iteration.window.length_ns();
  if (iteration.window.begin_ns <= 0 || length <= 0) return "CUPTI reported no time";
  const auto tolerated = kClockReadingNs + iteration.reading_ns + iteration.wall_ns / 1000;
  if (std::abs(length - iteration.wall_ns) <= tolerated) return "";
  return "an iteration took " + std::to_string(iteration.wall_ns) + " ns, but " +
         std::to_string(length) + " ns by the wall clock, which was set meanwhile; run it again";
}

/// The first reason that `why` finds.
template <typename Items, typename Why>
std::string first_reason(const Items& items, Why why) {
  for (const auto& item : items) {
    if (auto reason = why(item); !reason.empty()) return reason;
  }
  return "";
}

std::string why_invalid(const Recording& recording, const std::vector<Iteration>& iterations) {
  if (iterations.empty()) return "there is no iteration to break down";
  auto reason = why_incomplete(recording);
  if (reason.empty()) reason = first_reason(iterations, why_window_wrong);
  if (!reason.empty()) return reason;
  const Window all{iterations.front().window.begin_ns, iterations.back().window.end_ns};
  return first_reason(recording.activities, [&](const Activity& activity) {
    const auto wrong = why_stamped_wrongly(activity, all);
    return wrong.empty() ? "" : std::string(wrong) + described(activity);
  });
}

std::vector<Activity> device_work(const Recording& recording) {
  std::vector<Activity> work;
  for (const auto& activity : recording.activities) {
    if (activity.device == kDevice && activity.kind != Kind::host_to_host) work.push_back(activity);
  }
  return work;
}

std::vector<Activity> touching(const std::vector<Activity>& activities, Window window) {
  std::vector<Activity> found;
  std::ranges::copy_if(activities, std::back_inserter(found),
                       [&](const Activity& activity) { return touches(activity, window); });
  return found;
}

std::int64_t length_ns(const std::vector<Activity>& activities) {
  std::int64_t sum = 0;
  for (const auto& activity : activities) sum += activity.end_ns - activity.start_ns;
  return sum;
}

/// Recorded work less what each window holds of it.
std::int64_t outside_ns(const std::vector<Activity>& work, const std::vector<Iteration>& iterations,
                        const std::vector<WindowBreakdown>& breakdowns) {
  auto outside = length_ns(work);
  for (std::size_t i = 0; i < iterations.size(); ++i) {
    outside -= length_ns(touching(work, iterations[i].window)) - breakdowns[i].clipped_ns;
  }
  return outside;
}

std::int64_t lower_median(std::vector<std::int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

template <typename Of>
std::int64_t median_of(const auto& items, Of value_of) {
  std::vector<std::int64_t> values;
  for (const auto& item : items) values.push_back(value_of(item));
  return lower_median(std::move(values));
}

std::int64_t share(std::int64_t part_ns, const Breakdown& whole) {
  constexpr double kMillion = 1e6;
  const auto window_ns = whole.active_ns + whole.copy_ns + whole.idle_ns;
  return std::llround(static_cast<double>(part_ns) / static_cast<double>(window_ns) * kMillion);
}

Millionths median_shares(const std::vector<WindowBreakdown>& breakdowns) {
  const auto median = [&](std::int64_t Breakdown::* part) {
    return median_of(breakdowns, [&](const WindowBreakdown& each) {
      return share(each.shares.*part, each.shares);
    });
  };
  return {.active = median(&Breakdown::active_ns),
          .copy = median(&Breakdown::copy_ns),
          .idle = median(&Breakdown::idle_ns)};
}

std::size_t iteration_of_median_wall(const std::vector<Iteration>& iterations) {
  const auto wall = median_of(iterations, [](const Iteration& each) { return each.wall_ns; });
  const auto found = std::ranges::find(iterations, wall, &Iteration::wall_ns);
  return static_cast<std::size_t>(found - iterations.begin());
}

Iteration run_in_window(const Trace& trace, const Work& work,
                        const std::function<std::int64_t()>& clock) {
  Iteration iteration;
  // Somebody else may get the processor between two clocks.
  const auto begin = clock();
  iteration.window.begin_ns = trace.now_ns();
  const auto begun = clock();
  work.step();
  work.synchronise();
  const auto ended = clock();
  iteration.window.end_ns = trace.now_ns();
  const auto end = clock();
  iteration.wall_ns = end - begin;
  iteration.reading_ns = (begun - begin) + (end - ended);
  return iteration;
}

}  // namespace

std::int64_t monotonic_ns() {
  const auto since_boot = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since_boot).count();
}

Result<Profile> summarise(const Recording& recording, const std::vector<Iteration>& iterations) {
  auto reason = why_invalid(recording, iterations);
  if (!reason.empty()) return fail(ErrorCode::corrupt, std::move(reason));
  const auto work = device_work(recording);
  std::vector<WindowBreakdown> breakdowns;
  std::int64_t windows_ns = 0;
  for (const auto& iteration : iterations) {
    if (touching(work, iteration.window).empty()) {
      return fail(ErrorCode::corrupt,
                  "no record of an iteration that ran: CUPTI may be older than this GPU");
    }
    breakdowns.push_back(break_down(work, iteration.window));
    windows_ns += iteration.window.length_ns();
  }
  Profile profile;
  profile.outside_ns = outside_ns(work, iterations, breakdowns);
  // A hundredth of the windows is a point of their shares.
  if (profile.outside_ns > windows_ns / 100) {
    return fail(ErrorCode::corrupt,
                std::to_string(profile.outside_ns) +
                    " ns of recorded work lie outside the iterations: the "
                    "device's clock was wrong",
                "run it again");
  }
  const auto chosen = iteration_of_median_wall(iterations);
  profile.breakdown = breakdowns[chosen];
  profile.iteration = iterations[chosen];
  profile.median_shares = median_shares(breakdowns);
  profile.activities = touching(work, profile.iteration.window);
  return profile;
}

Result<Profile> profile(Trace& trace, const Work& work, int warmup, int iterations,
                        const std::function<std::int64_t()>& clock) {
  for (int i = 0; i < warmup; ++i) work.step();
  work.synchronise();
  TW_TRY_VOID(trace.discard());
  std::vector<Iteration> run;
  run.reserve(static_cast<std::size_t>(iterations));
  for (int i = 0; i < iterations; ++i) run.push_back(run_in_window(trace, work, clock));
  TW_TRY(const auto recording, trace.end());
  return summarise(recording, run);
}

}  // namespace torchwatch::activity
