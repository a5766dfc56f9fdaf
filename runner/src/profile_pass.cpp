#include "torchwatch/runner/profile_pass.hpp"

#include <algorithm>

#include "torchwatch/activity/profile.hpp"
#include "torchwatch/runner/operator_trace.hpp"
#include "torchwatch/runner/run_files.hpp"
#include "torchwatch/torch/libtorch.hpp"

namespace torchwatch::runner {
namespace {

using activity::Kind;
using activity::Profile;
using protocol::Request;
using protocol::RunResult;

constexpr int kIterationsMax = 10;

/// More calls of one iteration would make a trace of 20 MB and more, which is slow to look through.
constexpr std::size_t kOperatorCallsMax = 200'000;

/// CUDA 13.0 Update 1, the first whose CUPTI ends a trace without a deadlock or a crash of its own.
constexpr std::uint32_t kCuptiWithoutHangs = 130001;

std::int64_t bytes_of(const Profile& profile, Kind direction) {
  const auto found = profile.breakdown.bytes.find(direction);
  return found == profile.breakdown.bytes.end() ? 0 : found->second;
}

/// The figures that other definitions of the shares need.
std::map<std::string, std::int64_t> figures_of(const Profile& profile) {
  const auto& breakdown = profile.breakdown;
  return {{"profile_wall_ns", profile.iteration.wall_ns},
          {"profile_active_median_ppm", profile.median_shares.active},
          {"profile_copy_median_ppm", profile.median_shares.copy},
          {"profile_idle_median_ppm", profile.median_shares.idle},
          {"profile_copy_total_ns", breakdown.copy_total_ns},
          {"profile_overlap_ns", breakdown.overlap_ns},
          {"profile_memset_ns", breakdown.memset_ns},
          {"profile_device_to_device_ns", breakdown.device_to_device_ns},
          {"profile_host_to_device_bytes", bytes_of(profile, Kind::host_to_device)},
          {"profile_device_to_host_bytes", bytes_of(profile, Kind::device_to_host)},
          {"profile_device_to_device_bytes", bytes_of(profile, Kind::device_to_device)},
          {"profile_peer_bytes", bytes_of(profile, Kind::peer)},
          {"profile_kernels", breakdown.kernels},
          {"profile_clipped_ns", breakdown.clipped_ns},
          {"profile_outside_ns", profile.outside_ns}};
}

void write_chrome_trace(const std::string& trace, const Request& request, RunResult& result) {
  const auto written = write_result(request.chrome_trace, trace);
  if (written) return;
  result.status = RunStatus::failed;
  result.reason = written.error().within("chrome_trace").text();
}

}  // namespace

Recorder begin_recording(const Request& request, const activity::Libraries& libraries) {
  if (request.pass != Pass::profile) return nullptr;
  if (request.benchmark.configuration.device == Device::cpu) {
    return fail(ErrorCode::unavailable,
                "a run on the CPU has no device whose time could be broken down");
  }
  return activity::Trace::begin(libraries);
}

std::map<std::string, std::string> recorder_facts(const Recorder& recorder) {
  if (!recorder || *recorder == nullptr) return {};
  const auto version = (*recorder)->cupti_version();
  const char* warning = version < kCuptiWithoutHangs ? ", which can hang when a trace ends" : "";
  return {{"build.cupti_version", std::to_string(version) + warning}};
}

void profile_iterations(models::Workload& workload, models::Device device, const Request& request,
                        activity::Trace& trace, RunResult& result) {
  const activity::Work work{.step = [&] { workload.step(); },
                            .synchronise = [device] { synchronise(device); }};
  const auto profile =
      activity::profile(trace, work, request.warmup, std::min(kIterationsMax, request.iterations));
  if (!profile) {
    const bool is_invalid = profile.error().code == ErrorCode::corrupt;
    result.breakdown_reason = (is_invalid ? "invalid: " : "") + profile.error().text();
    return;
  }
  result.breakdown = profile->breakdown.shares;
  result.environment.volatile_facts.merge(figures_of(*profile));
  if (request.chrome_trace.empty()) return;
  write_chrome_trace(activity::chrome_trace(*profile, to_string(request.benchmark)), request,
                     result);
}

void trace_operators(models::Workload& workload, const Request& request, RunResult& result) {
  for (int i = 0; i < request.warmup; ++i) workload.step();
  const auto calls = operators_timed([&] { workload.step(); }, kOperatorCallsMax);
  write_chrome_trace(chrome_trace(calls, to_string(request.benchmark)), request, result);
}

}  // namespace torchwatch::runner
