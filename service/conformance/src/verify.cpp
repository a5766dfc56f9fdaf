#include "torchwatch/conformance/verify.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <string_view>
#include <thread>

#include "partner.hpp"
#include "torchwatch/detect/output_verdict.hpp"
#include "torchwatch/executor/external_command.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/records/printable.hpp"

namespace torchwatch::conformance {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kSampleNs = 1'000'000;
constexpr std::int64_t kLongSampleNs = 20'000'000;
constexpr std::int64_t kHourNs = 3'600'000'000'000;
constexpr milliseconds kShortLimit{3'000};
constexpr int kLevels = 20;  ///< of memory: two blocks
constexpr double kPeaksApart = 0.2;
constexpr std::size_t kPrintedMax = 200;  ///< characters of a line that a command printed

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

const RunResult* ok_result(const executor::RunOutcome& outcome) {
  const auto* result = std::get_if<RunResult>(&outcome);
  return result != nullptr && result->status == RunStatus::ok ? result : nullptr;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The last line of what was printed, with the last place in a source that Python named before it.
std::string last_words(const std::string& printed) {
  std::istringstream lines(printed);
  std::string last;
  std::string place;
  for (std::string line; std::getline(lines, line);) {
    const auto begin = line.find_first_not_of(' ');
    if (begin == std::string::npos) continue;
    last = line.substr(begin);
    if (last.starts_with("File \"")) place = last;
  }
  if (last.empty()) return {};
  last = elided(last, kPrintedMax);
  return "; it printed: " + last + (place.empty() || place == last ? "" : " (" + place + ")");
}

/// What came, where it was no result that is ok.
std::string misfortune(const executor::RunOutcome& outcome) {
  if (const auto* failure = std::get_if<executor::RunFailure>(&outcome)) {
    return failure->reason + last_words(failure->output);
  }
  const auto& result = std::get<RunResult>(outcome);
  return std::string(to_string(result.status)) + ": " + result.reason;
}

/// What to do about a misfortune; `otherwise` where it is about the answer.
std::string remedy_of(std::string_view came, std::string_view otherwise) {
  if (contains(came, "ModuleNotFoundError") || contains(came, "No such file or directory")) {
    return "name the file or its folder in `readable`: the sandbox hides what is not";
  }
  if (contains(came, "left no result")) {
    return "write the result to the path in the last argument; a workload in Python ends with "
           "serve(make)";
  }
  if (contains(came, "output limit")) return "print less: what a run prints is kept for its errors";
  if (came.starts_with("exit status")) return "correct the program: it ended before it answered";
  return std::string(otherwise);
}

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
                 remedy_of(came,
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
    const auto misfortunes = misfortune(one == nullptr ? first : second);
    return finding("memory", asked, false, misfortunes,
                   remedy_of(misfortunes,
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
  const auto apart = detect::output_difference(one->outputs, other->outputs);
  const bool holds = apart <= detect::tolerated_difference(Precision::fp32, {});
  auto came = figures::count(one->outputs.size(), "output") + ", ";
  came += apart == 0
              ? "equal in both runs"
              : figures::value(Metric::output_difference, static_cast<double>(apart)) + " apart";
  return finding("outputs", asked, holds, came, remedy);
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
  auto reason = executor::why_not_startable(subject.command);
  if (reason.empty()) reason = executor::missing_file_of(subject.command);
  add(finding("start", "a program that can be started", reason.empty(),
              reason.empty() ? "it can" : reason, "do as that says"));
  if (!reason.empty()) return findings;
  std::vector<Check> checks;
  if (!asking.metrics_of(Pass::timing).empty()) {
    TW_TRY(auto timed, check_timing(asking));
    add(std::move(timed));
    if (!findings.back().holds) return findings;
    checks.assign(kChecks.begin(), kChecks.end());
    if (subject.configuration.device == Device::cpu) {
      checks.insert(checks.end(), {check_turns, check_pair});
    }
  }
  const bool has_outputs = asking.states(Metric::output_difference);
  if (asking.metrics_of(Pass::memory).size() > (has_outputs ? 1U : 0U)) {
    checks.push_back(check_memory);
  }
  if (has_outputs) checks.push_back(check_outputs);
  for (const auto check : checks) {
    TW_TRY(auto found, check(asking));
    add(std::move(found));
  }
  return findings;
}

}  // namespace torchwatch::conformance
