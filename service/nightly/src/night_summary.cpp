#include "torchwatch/nightly/night_summary.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cell_json.hpp"
#include "torchwatch/detect/machine_shift.hpp"
#include "torchwatch/nightly/run_maker.hpp"
#include "torchwatch/nightly/series_settings.hpp"
#include "torchwatch/report/issue.hpp"
#include "torchwatch/storage/night_store.hpp"
#include "torchwatch/storage/run_store.hpp"

namespace torchwatch::nightly {
namespace {

using nlohmann::json;
using storage::NightRow;
using storage::VerdictRow;

bool is_told(const NightSummary& summary) {
  return summary != NightSummary{};
}

const VerdictRow* verdict_on(const std::vector<VerdictRow>& verdicts, const Target& target) {
  const auto found = std::ranges::find(verdicts, target, &VerdictRow::target);
  return found == verdicts.end() ? nullptr : &*found;
}

std::vector<MachineShift> shifts(const std::vector<VerdictRow>& before,
                                 const std::vector<Finding>& findings,
                                 const detect::Settings& settings) {
  std::map<Device, std::vector<double>> moves;
  for (const auto& [now, lost] : findings) {
    if (now.target.metric != Metric::time || now.baseline_value <= 0) continue;
    const auto* then = verdict_on(before, now.target);
    if (then == nullptr || then->candidate_value <= 0) continue;
    moves[now.target.cell.configuration.device].push_back(
        std::log(now.baseline_value / then->candidate_value));
  }
  std::vector<MachineShift> found;
  for (const auto& [device, log_ratios] : moves) {
    const auto shift = detect::machine_shift(log_ratios, settings);
    if (!shift) continue;
    found.push_back({device, shift->ratio, shift->low, shift->high, shift->pairs});
  }
  return found;
}

std::vector<Cell> left_out(const std::vector<VerdictRow>& before, const Plan& plan) {
  std::vector<Cell> cells;
  for (const auto& verdict : before) {
    const auto& cell = verdict.target.cell;
    const bool had_figures = verdict.candidate_value > 0;
    const auto stands_in = [&](const std::vector<Cell>& list) {
      return std::ranges::find(list, cell) != list.end();
    };
    if (had_figures && !stands_in(plan.cells) && !stands_in(cells)) cells.push_back(cell);
  }
  return cells;
}

/// What one build's timing runs of a night ran on; empty where there are none.
Result<Environment> machine_of_build(Workshop& workshop, storage::Id night, storage::Id build) {
  storage::RunStore store(workshop.database);
  TW_TRY(const auto runs, store.runs_of({storage::OwnerKind::night, night}));
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

Result<NightSummary> summarise(Workshop& workshop, const NightRow& night, const Plan& plan,
                               const std::vector<Finding>& findings) {
  NightSummary summary;
  if (night.kind != storage::NightKind::nightly || !night.baseline) return summary;
  storage::NightStore nights(workshop.database);
  TW_TRY(const auto earlier, nights.nightly_of(*night.baseline));
  if (!earlier) return summary;
  TW_TRY(const auto before, nights.verdicts_of(earlier->id));
  summary.machine_shifts = shifts(before, findings, detect_settings(workshop.config, plan));
  summary.left_out = left_out(before, plan);
  TW_TRY(const auto then, machine_of_build(workshop, earlier->id, *night.baseline));
  TW_TRY(const auto now, machine_of_build(workshop, night.id, *night.baseline));
  summary.machine_changes = changes(then, now);
  return summary;
}

std::vector<std::string> in_sentences(const NightSummary& summary) {
  std::vector<std::string> sentences;
  for (const auto& shift : summary.machine_shifts) {
    sentences.push_back(
        "The surroundings are not those of the night before: the times of the baseline, the same "
        "build measured again, are " +
        report::human_ratio(shift.ratio) + " " + device_words(shift.device) + " (" +
        std::to_string(shift.series) +
        " series). No code did that; the verdicts compare builds measured side by side.");
  }
  for (const auto& change : summary.machine_changes) {
    sentences.push_back("The machine is not the same as the night before: " + change + ".");
  }
  for (const auto& cell : summary.left_out) {
    sentences.push_back(
        "No longer in the suite, and measured the night before: " + to_string(cell) + ".");
  }
  return sentences;
}

std::string to_json(const NightSummary& summary) {
  if (!is_told(summary)) return {};
  json object{{"machine_shifts", json::array()},
              {"machine_changes", summary.machine_changes},
              {"left_out", json::array()},
              {"sentences", in_sentences(summary)}};
  for (const auto& shift : summary.machine_shifts) {
    object["machine_shifts"].push_back({{"device", to_string(shift.device)},
                                        {"ratio", shift.ratio},
                                        {"interval", {shift.low, shift.high}},
                                        {"series", shift.series}});
  }
  for (const auto& cell : summary.left_out) object["left_out"].push_back(cell_to_json(cell));
  return object.dump();
}

Result<NightSummary> parse_summary(std::string_view text) {
  NightSummary summary;
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
    for (const auto& item : object.at("left_out")) {
      TW_TRY(auto cell, cell_from_json(item));
      summary.left_out.push_back(std::move(cell));
    }
    return summary;
  } catch (const json::exception& exception) {
    return fail(ErrorCode::corrupt, std::string("stored summary: ") + exception.what());
  }
}

}  // namespace torchwatch::nightly
