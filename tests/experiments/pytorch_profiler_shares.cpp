// What PyTorch's own profiler says of a workload's iterations, in a process of its own: two tracers
// in one process overwrite each other's settings. Broken down by the same rule as the profile pass.

#include <torch/csrc/autograd/profiler_kineto.h>

#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "torchwatch/activity/profile.hpp"
#include "torchwatch/models/torch.hpp"
#include "torchwatch/runner/measure.hpp"
#include "torchwatch/torch/libtorch.hpp"

namespace {

using namespace torchwatch;
namespace profiler = torch::autograd::profiler;
namespace settings = torch::profiler::impl;

constexpr int kWarmup = 5;
constexpr int kIterations = 10;

/// Kineto tells its events by this clock.
std::int64_t wall_clock_ns() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since_1970).count();
}

activity::Kind kind_of(const std::string& name) {
  if (name.starts_with("Memset")) return activity::Kind::memset;
  if (!name.starts_with("Memcpy")) return activity::Kind::kernel;
  if (name.starts_with("Memcpy HtoD")) return activity::Kind::host_to_device;
  if (name.starts_with("Memcpy DtoH")) return activity::Kind::device_to_host;
  if (name.starts_with("Memcpy DtoD")) return activity::Kind::device_to_device;
  return activity::Kind::unknown_copy;
}

activity::Recording recording_of(const profiler::ProfilerResult& result) {
  activity::Recording recording;
  for (const auto& event : result.events()) {
    if (event.deviceType() != c10::DeviceType::CUDA) continue;
    const auto start = static_cast<std::int64_t>(event.startNs());
    recording.activities.push_back({.kind = kind_of(event.name()),
                                    .start_ns = start,
                                    .end_ns = start + static_cast<std::int64_t>(event.durationNs()),
                                    .device = static_cast<std::uint32_t>(event.deviceIndex())});
  }
  return recording;
}

activity::Iteration run_in_window(models::Workload& workload) {
  activity::Iteration iteration;
  const auto begin = activity::monotonic_ns();
  iteration.window.begin_ns = wall_clock_ns();
  workload.step();
  runner::synchronise(models::Device::cuda);
  iteration.window.end_ns = wall_clock_ns();
  iteration.wall_ns = activity::monotonic_ns() - begin;
  return iteration;
}

Result<activity::Profile> profile(models::Workload& workload) {
  const settings::ProfilerConfig config(settings::ProfilerState::KINETO);
  const std::set<settings::ActivityType> kinds{settings::ActivityType::CUDA};
  profiler::prepareProfiler(config, kinds);
  profiler::enableProfiler(config, kinds);
  for (int i = 0; i < kWarmup; ++i) workload.step();
  runner::synchronise(models::Device::cuda);
  std::vector<activity::Iteration> iterations;
  for (int i = 0; i < kIterations; ++i) iterations.push_back(run_in_window(workload));
  const auto result = profiler::disableProfiler();
  auto recording = recording_of(*result);
  // The profiler cannot be told to forget the warm-up.
  std::erase_if(recording.activities, [&](const activity::Activity& each) {
    return each.end_ns < iterations.front().window.begin_ns;
  });
  return activity::summarise(recording, iterations);
}

template <typename T>
T known_word(const Result<T>& word) {
  if (!word) throw std::invalid_argument(word.error().message);
  return *word;
}

int measure(const protocol::Request& request) {
  const auto* entry = models::find(request.benchmark.workload);
  if (entry == nullptr)
    throw std::invalid_argument(runner::unknown_workload(request.benchmark.workload));
  const auto refusal = runner::unsupported_reason(entry->definition, request);
  if (!refusal.empty()) throw std::invalid_argument(refusal);
  runner::set_threads(1);
  const auto workload = models::build(entry->definition, runner::setup_of(request));
  const auto shares = profile(*workload);
  if (!shares) throw std::runtime_error(shares.error().message);
  std::cout << nlohmann::json{{"active_ns", shares->breakdown.shares.active_ns},
                              {"active_ppm", shares->median_shares.active},
                              {"kernels", shares->breakdown.kernels},
                              {"wall_ns", shares->iteration.wall_ns}}
                   .dump()
            << "\n";
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const std::vector<std::string> arguments(words + 1, words + count);
  if (arguments.size() != 3) {
    std::cerr << "usage: experiment_pytorch_profiler_shares WORKLOAD infer|train small|paper\n";
    return 2;
  }
  try {
    protocol::Request request;
    request.benchmark = {arguments[0], {Device::cuda, known_word(parse_mode(arguments[1]))}, {}};
    request.preset = known_word(parse_preset(arguments[2]));
    return measure(request);
  } catch (const std::exception& error) {
    std::cerr << "experiment_pytorch_profiler_shares: " << runner::reason_of(error) << "\n";
    return 1;
  }
}
