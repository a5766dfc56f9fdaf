#include "torchwatch/triage/comparison_summary.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "torchwatch/comparison/run_recorder.hpp"
#include "torchwatch/detect/machine_shift.hpp"
#include "torchwatch/documents/vocabulary_json.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/records/machine_facts.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

namespace torchwatch::triage {
namespace {

using nlohmann::json;
using storage::ComparisonRow;
using storage::VerdictRow;

const VerdictRow* verdict_on(const std::vector<VerdictRow>& verdicts, const Series& series) {
  const auto found = std::ranges::find(verdicts, series, &VerdictRow::series);
  return found == verdicts.end() ? nullptr : &*found;
}

std::vector<MachineShift> shifts(const std::vector<VerdictRow>& before,
                                 const std::vector<comparison::JudgedSeries>& judged,
                                 const detect::Settings& settings) {
  std::map<Device, std::vector<double>> moves;
  for (const auto& [now, lost] : judged) {
    if (now.series.metric != Metric::time || now.baseline_value <= 0) continue;
    const auto* then = verdict_on(before, now.series);
    if (then == nullptr || then->candidate_value <= 0) continue;
    moves[now.series.benchmark.configuration.device].push_back(
        std::log(now.baseline_value / then->candidate_value));
  }
  std::vector<MachineShift> found;
  for (const auto& [device, log_ratios] : moves) {
    const auto shift = detect::machine_shift(log_ratios, settings);
    if (!shift) continue;
    found.push_back({.device = device,
                     .ratio = shift->ratio,
                     .low = shift->low,
                     .high = shift->high,
                     .series = shift->pairs});
  }
  return found;
}

std::vector<Benchmark> left_out(const std::vector<VerdictRow>& before,
                                const comparison::Plan& plan) {
  std::vector<Benchmark> benchmarks;
  for (const auto& verdict : before) {
    const auto& benchmark = verdict.series.benchmark;
    // An operator is measured where it is suspected, and the night after it is not.
    const bool had_value = verdict.candidate_value > 0 && !is_of_operator(benchmark);
    const auto is_in = [&](const std::vector<Benchmark>& list) {
      return std::ranges::find(list, benchmark) != list.end();
    };
    if (had_value && !is_in(plan.benchmarks) && !is_in(benchmarks)) benchmarks.push_back(benchmark);
  }
  return benchmarks;
}

/// Returns the environment of one build's timing runs in a comparison, empty where there are none.
Result<Environment> machine_of_build(comparison::Services& services, storage::Id comparison,
                                     storage::Id build) {
  storage::RunStore store(services.database);
  TW_TRY(const auto runs, store.runs_of({storage::OwnerKind::comparison, comparison}));
  const auto run = std::ranges::find_if(runs, [&](const storage::RunRow& each) {
    return each.build == build && each.pass == Pass::timing && !each.environment_digest.empty();
  });
  if (run == runs.end()) return Environment{};
  return store.environment(run->environment_digest);
}

std::vector<std::string> changes(const Environment& before, const Environment& now) {
  std::vector<std::string> changed;
  if (before.facts.empty() || now.facts.empty()) return changed;
  auto names = before.facts;
  names.insert(now.facts.begin(), now.facts.end());
  const auto value = [](const Environment& in, const std::string& name) {
    const auto fact = in.facts.find(name);
    return fact == in.facts.end() ? std::string("(nothing)") : fact->second;
  };
  for (const auto& [name, unused] : names) {
    const auto from = value(before, name);
    const auto to = value(now, name);
    if (from != to && is_of_machine(name)) changed.push_back(name + ": " + from + " -> " + to);
  }
  return changed;
}

std::string device_words(Device device) {
  return device == Device::cpu ? "on the CPU" : "on the GPU";
}

}  // namespace

Result<std::optional<NightlyBefore>> nightly_before(comparison::Services& services,
                                                    const ComparisonRow& row) {
  if (row.purpose != storage::Purpose::nightly || !row.baseline) return std::nullopt;
  storage::ComparisonStore comparisons(services.database);
  TW_TRY(const auto earlier, comparisons.nightly_of(*row.baseline));
  if (!earlier) return std::nullopt;
  TW_TRY(auto verdicts, storage::verdicts_of(services.database, earlier->id));
  return NightlyBefore{earlier->id, std::move(verdicts)};
}

Result<ComparisonSummary> summarise(comparison::Services& services,
                                    const comparison::Comparison& comparison,
                                    const NightlyBefore& before,
                                    const std::vector<comparison::JudgedSeries>& judged,
                                    const detect::Settings& settings) {
  const auto& [row, plan] = comparison;
  ComparisonSummary summary;
  summary.machine_shifts = shifts(before.verdicts, judged, settings);
  summary.left_out = left_out(before.verdicts, plan);
  TW_TRY(const auto then, machine_of_build(services, before.comparison, *row.baseline));
  TW_TRY(const auto now, machine_of_build(services, row.id, *row.baseline));
  summary.machine_changes = changes(then, now);
  return summary;
}

Result<bool> is_unconfined(comparison::Services& services, storage::Id comparison) {
  storage::RunStore store(services.database);
  TW_TRY(const auto runs, store.runs_of({storage::OwnerKind::comparison, comparison}));
  std::set<std::string> environments;
  for (const auto& run : runs) environments.insert(run.environment_digest);
  environments.erase("");
  for (const auto& digest : environments) {
    TW_TRY(const auto environment, store.environment(digest));
    const auto fact = environment.facts.find("sandbox");
    if (fact != environment.facts.end() && fact->second == "none") return true;
  }
  return false;
}

std::vector<std::string> in_sentences(const ComparisonSummary& summary) {
  std::vector<std::string> sentences;
  for (const auto& shift : summary.machine_shifts) {
    sentences.push_back(
        "The environment is not that of the nightly before: the times of the baseline, the same "
        "build measured again, are " +
        figures::change(shift.ratio) + " " + device_words(shift.device) + " (" +
        std::to_string(shift.series) +
        " series). No code did that; the verdicts compare builds measured side by side.");
  }
  for (const auto& change : summary.machine_changes) {
    sentences.push_back("The machine is not the same as in the nightly before: " + change + ".");
  }
  if (summary.is_unconfined) {
    sentences.emplace_back(
        "The runs were not confined: no sandbox kept the code of the builds from doing all that "
        "the service may do; `torchwatch check` says why.");
  }
  for (const auto& benchmark : summary.left_out) {
    sentences.push_back("No longer in the suite, and measured in the nightly before: " +
                        to_string(benchmark) + ".");
  }
  return sentences;
}

std::string to_json(const ComparisonSummary& summary) {
  if (summary == ComparisonSummary{}) return {};
  json object{{"machine_shifts", json::array()},
              {"machine_changes", summary.machine_changes},
              {"left_out", summary.left_out},
              {"is_unconfined", summary.is_unconfined},
              {"sentences", in_sentences(summary)}};
  for (const auto& shift : summary.machine_shifts) {
    object["machine_shifts"].push_back({{"device", to_string(shift.device)},
                                        {"ratio", shift.ratio},
                                        {"interval", {shift.low, shift.high}},
                                        {"series", shift.series}});
  }
  return stored_text(object);
}

Result<ComparisonSummary> parse_summary(std::string_view text) {
  ComparisonSummary summary;
  if (text.empty()) return summary;
  try {
    const auto object = json::parse(text);
    for (const auto& item : object.at("machine_shifts")) {
      MachineShift shift;
      TW_TRY(shift.device, parse_device(item.at("device").get<std::string>()));
      item.at("ratio").get_to(shift.ratio);
      item.at("interval").at(0).get_to(shift.low);
      item.at("interval").at(1).get_to(shift.high);
      item.at("series").get_to(shift.series);
      summary.machine_shifts.push_back(shift);
    }
    object.at("machine_changes").get_to(summary.machine_changes);
    object.at("left_out").get_to(summary.left_out);
    summary.is_unconfined = object.value("is_unconfined", false);  // earlier versions: not said
    return summary;
  } catch (const json::exception& exception) {
    return fail(ErrorCode::corrupt, std::string("stored summary: ") + exception.what());
  }
}

}  // namespace torchwatch::triage
