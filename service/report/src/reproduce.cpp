#include "torchwatch/report/reproduce.hpp"

#include <algorithm>

#include "torchwatch/documents/plan.hpp"
#include "torchwatch/records/shell_words.hpp"
#include "torchwatch/report/view.hpp"

namespace torchwatch::report {
namespace {

std::string argument(std::string_view word) {
  return " " + shell_word(word);
}

std::string of_benchmark(const Benchmark& benchmark, std::optional<Preset> preset) {
  auto text = " --workload" + argument(benchmark.workload) + " --configuration" +
              argument(to_string(benchmark.configuration));
  if (benchmark.variant != Variant{}) text += " --variant" + argument(to_string(benchmark.variant));
  return preset ? text + " --preset" + argument(to_string(*preset)) : text;
}

}  // namespace

std::string compare_command(const std::string& baseline, const std::string& candidate,
                            const Series& series, std::optional<Preset> preset) {
  auto command = compare_command(baseline, candidate) + of_benchmark(series.benchmark, preset);
  // Outputs may be compared only where that is asked for.
  if (series.metric != Metric::output_difference) return command;
  return command + " --metric" + argument(to_string(series.metric));
}

std::string compare_command(const std::string& baseline, const std::string& candidate) {
  return "torchwatch compare" + argument(baseline) + argument(candidate);
}

std::string study_command(const std::string& build, const storage::StudyRow& study,
                          const Benchmark& benchmark) {
  return "torchwatch compare" + argument(build) + " --between" + argument(study.baseline) +
         " --and" + argument(study.candidate) + of_benchmark(benchmark, std::nullopt);
}

std::string profile_command(const std::string& build, const Benchmark& benchmark,
                            std::optional<Preset> preset) {
  return measure_command(build) + of_benchmark(benchmark, preset) + " --profile";
}

std::string torchbench_command(const Benchmark& benchmark, const std::string& threads) {
  const auto& [workload, configuration, variant] = benchmark;
  const bool is_alike = configuration.device == Device::cpu &&
                        variant.precision == Precision::fp32 && variant.backend == Backend::eager &&
                        !is_of_operator(benchmark);
  if (!is_alike) return "";
  const auto count = variant.threads > 0 ? std::to_string(variant.threads) : threads;
  auto text = count.empty() ? std::string() : "OMP_NUM_THREADS=" + count + " ";
  text += "python3 run.py" + argument(workload) + " -d cpu -t " +
          (configuration.mode == Mode::train ? "train" : "eval");
  return variant.batch > 0 ? text + " --bs " + std::to_string(variant.batch) : text;
}

std::string reproduce_command(const storage::IncidentRow& incident, const std::string& baseline,
                              const std::string& candidate, const std::string& plan_json) {
  if (incident.series.empty()) return "";
  const auto worst =
      std::ranges::min_element(incident.series, [](const auto& left, const auto& right) {
        return is_larger(effect_of(left), effect_of(right));
      });
  // A comparison has no plan before it is ready; a damaged one keeps nothing else from a reader.
  const auto plan = comparison::parse_plan(plan_json);
  return compare_command(baseline, candidate, worst->series,
                         plan ? std::optional(plan->preset) : std::nullopt);
}

std::vector<Advice> advice_on(const storage::IncidentRow& incident, bool names_culprit,
                              const std::string& reproduce) {
  const auto command = [id = std::to_string(incident.id)](const std::string& verb) {
    return "torchwatch incident " + verb + " " + id;
  };
  const std::string why = " --reason \"...\"";
  std::vector<Advice> advice;
  if (incident.state == storage::IncidentState::closed) {
    return {{"It is not over", command("reopen")}};
  }
  if (!reproduce.empty()) advice.push_back({"See it yourself", reproduce});
  if (incident.state == storage::IncidentState::open) {
    advice.push_back({"Somebody works on it", command("acknowledge")});
  }
  const bool is_of_environment = is_lost_with_both(incident);
  if (!is_of_environment) advice.push_back({"It is intended", command("accept") + why});
  if (names_culprit) advice.push_back({"The commit is wrong", command("dispute") + why});
  advice.push_back({is_of_environment ? "The machine is in order again" : "Is it still there",
                    command("retest")});
  advice.push_back({"It is fixed", command("close")});
  return advice;
}

std::string bisect_command(const std::string& good, const std::string& bad, const Series& series,
                           std::optional<Preset> preset) {
  return "torchwatch bisect" + argument(good) + argument(bad) +
         of_benchmark(series.benchmark, preset) + " --metric" + argument(to_string(series.metric));
}

std::string measure_command(const std::string& build) {
  return "torchwatch measure" + argument(build);
}

std::string suspect_command(const std::string& sha, const Series& series,
                            std::optional<Preset> preset) {
  return "torchwatch bisect --suspect" + argument(sha) + of_benchmark(series.benchmark, preset) +
         " --metric" + argument(to_string(series.metric));
}

}  // namespace torchwatch::report
