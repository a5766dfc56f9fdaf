#include "torchwatch/conformance/verify.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <thread>

#include "misfortune.hpp"
#include "partner.hpp"
#include "torchwatch/detect/output_verdict.hpp"
#include "torchwatch/executor/external_command.hpp"
#include "torchwatch/figures/figures.hpp"

namespace torchwatch::conformance {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kSampleNs = 1'000'000;
constexpr std::int64_t kLongSampleNs = 20'000'000;
constexpr std::int64_t kHourNs = 3'600'000'000'000;
constexpr milliseconds kShortLimit{3'000};
constexpr int kLevels = 20;  ///< of memory: two blocks
constexpr double kPeaksApart = 0.2;

/// What the checks ask with: each request gets an attempt of its own.
class Asking {
 public:
  Asking(executor::Executor& executor, const Subject& subject, platform::Random& random,
         std::filesystem::path scratch, std::stop_token stop)
      : subject_(subject),
        executor_(executor),
        random_(random),
        scratch_(std::move(scratch)),
        stop_(std::move(stop)) {}

  const Subject& subject() const { return subject_; }
  const std::filesystem::path& scratch() const { return scratch_; }

  bool states(Metric metric) const {
    return std::ranges::find(subject_.metrics, metric) != subject_.metrics.end();
  }

  std::vector<Metric> metrics_of(Pass pass) const {
    std::vector<Metric> metrics;
    std::ranges::copy_if(subject_.metrics, std::back_inserter(metrics),
                         [&](Metric metric) { return pass_of(metric) == pass; });
    return metrics;
  }

  executor::RunSpec spec(Pass pass) const {
    executor::RunSpec spec;
    spec.command = subject_.command;
    spec.libraries = subject_.libraries;
    auto& request = spec.request;
    request.attempt = random_.token();
    request.benchmark = {
        .workload = subject_.name, .configuration = subject_.configuration, .variant = {}};
    request.benchmark.variant.threads = 1;
    request.pass = pass;
    request.warmup = 2;
    request.iterations = 10;
    request.iterations_min = 3;
    request.enough_ns = 50 * kSampleNs;
    request.batch_below_ns = kSampleNs;
    request.metrics = metrics_of(pass);
    request.outputs = pass == Pass::memory && states(Metric::output_difference);
    const bool has_leaks = std::ranges::any_of(request.metrics, is_leak);
    request.leak_iterations = has_leaks ? kLevels : 0;
    request.limits = {.time_ms = subject_.time_limit.count(),
                      .memory_bytes = subject_.memory_limit_bytes};
    return spec;
  }

  Result<executor::RunOutcome> run(const executor::RunSpec& spec) const {
    return executor_.run(spec, stop_);
  }
  Result<std::array<executor::RunOutcome, 2>> run_pair(
      const std::array<executor::RunSpec, 2>& specs) const {
    return executor_.run_pair(specs, stop_);
  }

 private:
  const Subject& subject_;
  executor::Executor& executor_;
  platform::Random& random_;
  std::filesystem::path scratch_;
  std::stop_token stop_;
};

std::string samples_of(const RunResult& result) {
  return figures::count(result.samples_ns.size(), "sample") + " of " +
         figures::count(static_cast<std::size_t>(result.iterations_per_sample), "iteration") +
         ", " + std::to_string(result.values.at(Metric::time)) + " ns each";
}

double length_ns(const RunResult& result) {
  return static_cast<double>(result.values.at(Metric::time)) *
         static_cast<double>(result.iterations_per_sample);
}

Finding finding(std::string check, std::string asked, bool holds, std::string came,
                std::string remedy) {
  return {.check = std::move(check),
          .holds = holds,
          .asked = std::move(asked),
          .came = std::move(came),
          .remedy = holds ? "" : std::move(remedy)};
}

Result<Finding> check_timing(const Asking& asking) {
  TW_TRY(const auto outcome, asking.run(asking.spec(Pass::timing)));
  const auto* result = ok_result(outcome);
  const auto came = result != nullptr ? samples_of(*result) : misfortune(outcome);
  return finding("timing", "the pass timing, 3 to 10 samples", result != nullptr, came,
                 remedy_of(outcome,
                           "answer with status ok, samples_ns and their median as values.time, in "
                           "whole nanoseconds"));
}

Result<Finding> check_attempts(const Asking& asking) {
  std::string came = "each run repeated its own";
  bool holds = true;
  for (int i = 0; i < 2 && holds; ++i) {
    TW_TRY(const auto outcome, asking.run(asking.spec(Pass::timing)));
    holds = ok_result(outcome) != nullptr;
    if (!holds) came = misfortune(outcome);
  }
  return finding("attempts", "two runs with attempts of their own", holds, came,
                 "repeat the request's attempt in the result; keep nothing from run to run");
}

Result<Finding> check_enough(const Asking& asking) {
  auto spec = asking.spec(Pass::timing);
  spec.request.iterations = 1000;
  spec.request.enough_ns = 1;
  TW_TRY(const auto outcome, asking.run(spec));
  const auto* result = ok_result(outcome);
  const bool holds = result != nullptr && result->samples_ns.size() == 3;
  return finding("enough",
                 "to stop with iterations_min, 3 samples, as enough_ns is measured by then", holds,
                 result != nullptr ? samples_of(*result) : misfortune(outcome),
                 "stop once enough_ns are measured and iterations_min samples are there");
}

Result<Finding> check_batches(const Asking& asking) {
  auto spec = asking.spec(Pass::timing);
  spec.request.batch_below_ns = kLongSampleNs;
  TW_TRY(const auto outcome, asking.run(spec));
  const auto* result = ok_result(outcome);
  const bool holds = result != nullptr && length_ns(*result) >= kLongSampleNs / 2.0;
  return finding("batches", "samples of at least 20 ms", holds,
                 result != nullptr ? samples_of(*result) : misfortune(outcome),
                 "double the iterations of a sample until it takes batch_below_ns, and state their "
                 "number as iterations_per_sample");
}

Result<Finding> check_limit(const Asking& asking) {
  auto spec = asking.spec(Pass::timing);
  spec.request.iterations = 1'000'000;
  spec.request.enough_ns = kHourNs;
  spec.request.limits.time_ms = kShortLimit.count();
  TW_TRY(const auto outcome, asking.run(spec));
  const auto* result = std::get_if<RunResult>(&outcome);
  std::string came = result == nullptr ? misfortune(outcome) : "ended in time, ";
  if (result != nullptr) {
    came += ok_result(outcome) != nullptr ? samples_of(*result) : misfortune(outcome);
  }
  return finding("time limit", "an hour of samples within limits.time_ms, 3 s", result != nullptr,
                 came, "end before limits.time_ms with the samples that there are, or with failed");
}

Result<Finding> check_variant(const Asking& asking) {
  auto spec = asking.spec(Pass::timing);
  spec.request.benchmark.variant.precision = Precision::bf16;
  spec.request.benchmark.variant.batch = 3;
  TW_TRY(const auto outcome, asking.run(spec));
  const auto* result = std::get_if<RunResult>(&outcome);
  const bool holds = result != nullptr && result->status != RunStatus::failed;
  return finding("variant", "the variant bf16,batch=3", holds,
                 ok_result(outcome) != nullptr ? samples_of(*result) : misfortune(outcome),
                 "answer unsupported with the reason where a variant is not measured");
}

Result<Finding> check_other_pass(const Asking& asking) {
  TW_TRY(const auto outcome, asking.run(asking.spec(Pass::coverage)));
  const auto* result = std::get_if<RunResult>(&outcome);
  const bool holds = result != nullptr && result->status != RunStatus::failed;
  return finding("other passes", "the pass coverage", holds,
                 ok_result(outcome) != nullptr ? "operators" : misfortune(outcome),
                 "answer unsupported with the reason for a pass that is not measured");
}

/// The figures of a memory pass as text: "heap_growth 0 bytes/iteration".
std::string memory_of(const RunResult& result) {
  std::string text;
  for (const auto& [metric, value] : result.values) {
    text += (text.empty() ? "" : ", ") + std::string(to_string(metric)) + " " +
            std::to_string(value) + " " + std::string(unit_of(metric));
  }
  return text;
}

bool are_near(const RunResult& one, const RunResult& other) {
  return std::ranges::all_of(one.values, [&](const auto& entry) {
    const auto& [metric, value] = entry;
    if (!has_ratio(metric)) return true;
    const auto found = other.values.find(metric);
    if (found == other.values.end()) return false;
    const auto larger = std::max(value, found->second);
    const auto apart = static_cast<double>(std::abs(value - found->second));
    return apart <= kPeaksApart * static_cast<double>(larger);
  });
}

/// Levels of memory belong to growth: without them nobody can see where it comes from.
bool has_levels(const RunResult& result, const protocol::Request& request) {
  const auto levels = static_cast<std::size_t>(request.leak_iterations);
  if (levels == 0) return true;
  return result.leak &&
         std::max(result.leak->live_bytes.size(), result.leak->heap_bytes.size()) == levels;
}

Result<Finding> check_memory(const Asking& asking) {
  const auto spec = asking.spec(Pass::memory);
  TW_TRY(const auto first, asking.run(spec));
  TW_TRY(const auto second, asking.run(asking.spec(Pass::memory)));
  const auto* one = ok_result(first);
  const auto* other = ok_result(second);
  const std::string asked =
      "the pass memory twice, with " + std::to_string(spec.request.leak_iterations) + " levels";
  if (one == nullptr || other == nullptr) {
    const auto& broken = one == nullptr ? first : second;
    return finding("memory", asked, false, misfortune(broken),
                   remedy_of(broken,
                             "answer with the metrics that the request names, in bytes, or take "
                             "what is not stated out of `metrics`"));
  }
  const auto came = memory_of(*one) + "; then " + memory_of(*other);
  if (!has_levels(*one, spec.request)) {
    return finding("memory", asked, false, came + ", without as many levels",
                   "state a level for each of leak_iterations in leak.live_bytes or heap_bytes");
  }
  return finding("memory", asked, are_near(*one, *other), came,
                 "state a peak above the level before the workload is made, after the warm-up");
}

/// What one build computes twice is equal: what is not would be blamed on a commit.
Result<Finding> check_outputs(const Asking& asking) {
  TW_TRY(const auto first, asking.run(asking.spec(Pass::memory)));
  TW_TRY(const auto second, asking.run(asking.spec(Pass::memory)));
  const auto* one = ok_result(first);
  const auto* other = ok_result(second);
  const std::string asked = "the outputs of one iteration, twice";
  const std::string remedy =
      "make the workload anew, seed what is random, and state what its first iteration computes";
  if (one == nullptr || other == nullptr) {
    return finding("outputs", asked, false, misfortune(one == nullptr ? first : second), remedy);
  }
  if (one->outputs.empty()) {
    return finding("outputs", asked, false, "none: " + one->reason,
                   "return tensors or numbers from an iteration, or take output_difference out of "
                   "`metrics`");
  }
  const auto apart = detect::output_difference(one->outputs, other->outputs);
  const bool holds = apart <= detect::tolerated_difference(Precision::fp32, {});
  auto came = figures::count(one->outputs.size(), "output") + ", ";
  came += apart == 0
              ? "equal in both runs"
              : figures::value(Metric::output_difference, static_cast<double>(apart)) + " apart";
  return finding("outputs", asked, holds, came, remedy);
}

/// A sample that was taken before the machine was handed over ends too soon after it.
bool gave_back_early(const Turns& turns, const RunResult& result) {
  constexpr double kShareMin = 0.9;
  const auto per_sample = static_cast<double>(result.iterations_per_sample);
  const auto least = static_cast<double>(std::ranges::min(result.samples_ns)) * per_sample;
  return turns.samples > 0 && static_cast<double>(turns.shortest.count()) < kShareMin * least;
}

Result<Finding> check_turns(const Asking& asking) {
  TW_TRY(const auto partner, Partner::open(asking.scratch()));
  auto spec = asking.spec(Pass::timing);
  spec.request.interleave = partner.pipes();
  spec.command->readable.emplace_back(spec.request.interleave->own);
  Turns turns;
  std::jthread playing([&](const std::stop_token& ended) { turns = partner.play(ended); });
  auto outcome = asking.run(spec);
  playing.request_stop();
  playing.join();
  if (!outcome) return fail(outcome.error());
  const auto* result = ok_result(*outcome);
  if (result != nullptr && turns.problem.empty() && gave_back_early(turns, *result)) {
    turns.problem = "it gave the machine back sooner than a sample takes";
  }
  const bool holds = result != nullptr && turns.problem.empty() && turns.samples > 0;
  auto came = figures::count(static_cast<std::size_t>(turns.samples), "sample") + " in turn";
  if (result == nullptr) came = misfortune(*outcome);
  if (!turns.problem.empty()) came = turns.problem + "; " + came;
  return finding("interleaving", "one sample a turn, the partner's turn first", holds, came,
                 "read a y before the workload is made and before each sample; write a y after the "
                 "warm-up and after each sample, a d at the end");
}

Result<Finding> check_pair(const Asking& asking) {
  TW_TRY(const auto outcomes,
         asking.run_pair({asking.spec(Pass::timing), asking.spec(Pass::timing)}));
  const bool holds = std::ranges::all_of(
      outcomes, [](const auto& outcome) { return ok_result(outcome) != nullptr; });
  std::string came = "both answered";
  for (const auto& outcome : outcomes) {
    if (ok_result(outcome) == nullptr) came = misfortune(outcome);
  }
  return finding("pair", "two processes, interleaved", holds, came,
                 "share nothing between processes: no lock, no port, no file outside TMPDIR");
}

using Check = Result<Finding> (*)(const Asking&);

constexpr std::array<Check, 6> kChecks{check_attempts, check_enough,  check_batches,
                                       check_limit,    check_variant, check_other_pass};

/// The checks behind the first, those first that show what is written wrong rather than timed
/// wrong.
std::vector<Check> checks_of(const Asking& asking, bool is_timed) {
  std::vector<Check> checks;
  const bool has_outputs = asking.states(Metric::output_difference);
  if (asking.metrics_of(Pass::memory).size() > (has_outputs ? 1U : 0U)) {
    checks.push_back(check_memory);
  }
  if (has_outputs) checks.push_back(check_outputs);
  if (!is_timed) return checks;
  checks.insert(checks.end(), kChecks.begin(), kChecks.end());
  if (asking.subject().configuration.device == Device::cpu) {
    checks.insert(checks.end(), {check_turns, check_pair});
  }
  return checks;
}

}  // namespace

Result<std::vector<Finding>> verify(executor::Executor& executor, const Subject& subject,
                                    platform::Random& random, const std::filesystem::path& scratch,
                                    std::stop_token stop,
                                    const std::function<void(const Finding&)>& heard) {
  const Asking asking(executor, subject, random, scratch, std::move(stop));
  std::vector<Finding> findings;
  const auto add = [&](Finding found) {
    if (heard) heard(found);
    findings.push_back(std::move(found));
  };
  const auto wrong = executor::what_is_wrong(subject.command);
  add(finding("start", "a program that can be started", wrong.empty(),
              wrong.empty() ? "it can" : wrong,
              "correct `command` or `readable` of its [[suite.external]]"));
  if (!wrong.empty()) return findings;
  const bool is_timed = !asking.metrics_of(Pass::timing).empty();
  if (is_timed) {
    TW_TRY(auto timed, check_timing(asking));
    add(std::move(timed));
    if (!findings.back().holds) return findings;
  }
  for (const auto check : checks_of(asking, is_timed)) {
    TW_TRY(auto found, check(asking));
    add(std::move(found));
  }
  return findings;
}

}  // namespace torchwatch::conformance
