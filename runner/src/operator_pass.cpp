#include "torchwatch/runner/operator_pass.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "samples.hpp"
#include "torchwatch/records/statistics.hpp"
#include "torchwatch/torch/operator_figures.hpp"

namespace torchwatch::runner {
namespace {

using protocol::Request;
using protocol::RunResult;

/// Iterations whose allocations are added up, after one that settles.
constexpr int kBytesIterations = 4;

constexpr models::Device kDevice = models::Device::cpu;

/// What the samples found, per iteration.
struct Samples {
  std::vector<std::int64_t> unwatched_ns;
  std::vector<std::int64_t> watched_ns;
  std::map<std::string, std::vector<std::int64_t>> self_ns;  ///< one of each sample
  std::map<std::string, std::int64_t> calls;                 ///< of all samples together
};

std::int64_t share(std::int64_t sum, std::int64_t of) {
  return std::llround(static_cast<double>(sum) / static_cast<double>(of));
}

/// An operator that is not called in each sample has no time in the others.
void add(const OperatorTimes& times, std::int64_t iterations, std::size_t number,
         Samples& samples) {
  for (const auto& [name, time] : times) {
    auto& self = samples.self_ns[name];
    self.resize(number);
    self.push_back(share(time.self_ns, iterations));
    samples.calls[name] += time.calls;
  }
}

Samples take_samples(models::Workload& workload, const Request& request, Interleave& interleave,
                     std::int64_t iterations) {
  Samples samples;
  SampleCount count(request);
  while (!count.is_enough()) {
    interleave.acquire();
    const auto unwatched = time_batch(workload, kDevice, iterations);
    std::int64_t watched = 0;
    const auto times = operator_times([&] { watched = time_batch(workload, kDevice, iterations); });
    add(times, iterations, samples.watched_ns.size(), samples);
    samples.unwatched_ns.push_back(share(unwatched, iterations));
    samples.watched_ns.push_back(share(watched, iterations));
    count.add(unwatched + watched);
    interleave.hand_over();
  }
  interleave.finish();
  return samples;
}

/// Writes the asked operator's samples as those of the run.
void add_samples_of(const std::string& name, const Samples& samples, RunResult& result) {
  const auto found = samples.self_ns.find(name);
  if (found == samples.self_ns.end()) {
    throw models::UnsupportedSetup("an iteration of the workload does not call " + name);
  }
  result.samples_ns = found->second;
  for (auto& self : result.samples_ns) self = std::max<std::int64_t>(1, self);
  result.values[Metric::time] = median(result.samples_ns);
}

}  // namespace

void watch_operators(models::Workload& workload, const Request& request, Interleave interleave,
                     RunResult& result) {
  for (int i = 0; i < request.warmup; ++i) workload.step();
  // A sample is of two batches.
  const auto iterations =
      iterations_to_fill(workload, kDevice, request.batch_below_ns / 2, interleave);
  interleave.hand_over();
  auto samples = take_samples(workload, request, interleave, iterations);
  const auto taken = samples.watched_ns.size();
  for (auto& [name, self] : samples.self_ns) self.resize(taken);
  if (const auto& timed = request.benchmark.variant.operator_name; !timed.empty()) {
    add_samples_of(timed, samples, result);
    result.iterations_per_sample = iterations;
  }
  for (auto& [name, self] : samples.self_ns) {
    auto& figures = result.operator_figures[name];
    figures.self_ns = median(self);
    figures.calls = share(samples.calls[name], static_cast<std::int64_t>(taken) * iterations);
  }
  for (const auto& [name, bytes] : operator_bytes([&] { workload.step(); }, kBytesIterations)) {
    auto& figures = result.operator_figures[name];
    figures.allocated_bytes = share(bytes.allocated, kBytesIterations);
    figures.kept_bytes = share(bytes.kept, kBytesIterations);
  }
  auto& facts = result.environment.volatile_facts;
  facts["operators_iteration_ns"] = median(samples.unwatched_ns);
  facts["operators_watched_ns"] = median(samples.watched_ns);
}

}  // namespace torchwatch::runner
