#include "torchwatch/nightly/night.hpp"

#include <algorithm>
#include <filesystem>

#include "judging.hpp"
#include "measuring.hpp"
#include "reporting.hpp"
#include "self_test.hpp"
#include "torchwatch/doors/publish.hpp"
#include "torchwatch/nightly/batch_choice.hpp"
#include "torchwatch/nightly/discovery.hpp"
#include "torchwatch/nightly/plan.hpp"
#include "torchwatch/nightly/search_run.hpp"
#include "torchwatch/nightly/subjects.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/night_store.hpp"

namespace torchwatch::nightly {
namespace {

using storage::NightRow;
using storage::NightState;

std::vector<Configuration> configurations_of(const config::Config& config) {
  if (!config.suite.configurations.empty()) return config.suite.configurations;
  std::vector<Configuration> here{{Device::cpu, Mode::train}, {Device::cpu, Mode::infer}};
  if (std::filesystem::exists("/dev/nvidiactl")) {
    here.push_back({Device::cuda, Mode::train});
    here.push_back({Device::cuda, Mode::infer});
  }
  return here;
}

Status apply_batch_table(const std::filesystem::path& file, Plan& plan) {
  constexpr std::size_t kBytesMax = 1U << 20U;
  if (file.empty()) return {};
  TW_TRY(const auto text, doors::read_file(file, kBytesMax));
  const auto table = parse_batch_table(text, plan.preset);
  if (!table) return fail(table.error().within(file.string()));
  for (auto& cell : plan.cells) apply(*table, cell);
  return {};
}

/// Each stage takes the night in one state and returns it in a later one.
class Stages {
 public:
  Stages(Workshop& workshop, std::stop_token stop)
      : workshop_(workshop), nights_(workshop.database), builds_(workshop.database), stop_(stop) {}

  Result<NightRow> take(const NightRow& night) {
    switch (night.state) {
      case NightState::discovered:
        return prepare(night);
      case NightState::ready:
        return measure(night);
      case NightState::measured:
        return judge(night);
      case NightState::judged:
        return search(night);
      case NightState::bisected:
        return report(night);
      case NightState::reported:
      case NightState::accepted:
      case NightState::refused:
        return night;
    }
    return fail(ErrorCode::internal, "night in an unknown state");
  }

 private:
  Result<NightRow> advance(const NightRow& night, NightState to, const std::string& reason = "") {
    return nights_.advanced(night, to, workshop_.clock.wall_now(), reason);
  }

  Result<NightRow> prepare(NightRow night) {
    if (!night.baseline) {
      const bool is_oldest = night.kind == storage::NightKind::nightly;
      return advance(night, NightState::accepted,
                     is_oldest ? std::string(kOldestNightly) : "measured alone, and interrupted");
    }
    TW_TRY(const auto candidate, builds_.get(night.candidate));
    TW_TRY(const auto baseline, builds_.get(*night.baseline));
    for (const auto* build : {&baseline, &candidate}) {
      if (auto tree = builds::inspect(build->folder); !tree) {
        return advance(night, NightState::refused,
                       "build " + build->name + ": " + tree.error().message);
      }
    }
    if (night.kind == storage::NightKind::nightly &&
        candidate.content_hash == baseline.content_hash) {
      return end_without_measuring(night, baseline);
    }
    if (night.plan_json.empty()) {
      TW_TRY(const auto plan, plan_of_config(workshop_));
      TW_TRY(night, nights_.planned(night, to_json(plan)));
    }
    workshop_.progress.began("preparing runners for " + candidate.name);
    TW_TRY(const auto sides, Sides::of(workshop_, night, stop_));
    return advance(night, NightState::ready);
  }

  Result<NightRow> end_without_measuring(const NightRow& night, const storage::BuildRow& baseline) {
    TW_TRY(const auto plan, plan_of_config(workshop_));
    NightRow ended;
    TW_TRY_VOID(workshop_.database.transact([&]() -> Status {
      TW_TRY_VOID(open_self_test(workshop_, night, plan));
      TW_TRY(ended, advance(night, NightState::reported,
                            "the same libraries as " + baseline.name + ": nothing to measure"));
      return {};
    }));
    return ended;
  }

  Result<NightRow> measure(const NightRow& night) {
    TW_TRY(const auto sides, Sides::of(workshop_, night, stop_));
    TW_TRY_VOID(measure_night(workshop_, night, sides, stop_));
    return advance(night, NightState::measured);
  }

  Result<NightRow> judge(const NightRow& night) { return judge_night(workshop_, night); }

  Result<NightRow> search(const NightRow& night) {
    storage::IncidentStore incidents(workshop_.database);
    storage::BisectionStore bisections(workshop_.database);
    TW_TRY(const auto found, incidents.of_night(night.id));
    for (const auto& incident : found) {
      if (!incident.bisection) continue;
      TW_TRY(const auto bisection, bisections.get(*incident.bisection));
      workshop_.progress.began("searching the culprit: " + incident.title);
      TW_TRY(const auto ended, carry_out_search(workshop_, bisection, stop_));
      (void)ended;
    }
    return advance(night, NightState::bisected);
  }

  Result<NightRow> report(const NightRow& night) { return report_night(workshop_, night); }

  Workshop& workshop_;
  storage::NightStore nights_;
  storage::BuildStore builds_;
  std::stop_token stop_;
};

bool is_over(NightState state) {
  return state == NightState::reported || state == NightState::accepted ||
         state == NightState::refused;
}

}  // namespace

Result<Plan> plan_of_config(Workshop& workshop) {
  auto workloads = workshop.config.suite.workloads;
  if (workloads.empty()) {
    TW_TRY(workloads, workshop.runners.workloads());
  }
  auto plan = make_plan(workshop.config, workloads, configurations_of(workshop.config));
  TW_TRY_VOID(apply_batch_table(workshop.config.suite.inference_batches, plan));
  return plan;
}

Result<NightRow> carry_out_night(Workshop& workshop, NightRow night, std::stop_token stop) {
  Stages stages(workshop, stop);
  while (!is_over(night.state)) {
    if (stop.stop_requested()) return fail(ErrorCode::cancelled, "the night was interrupted");
    TW_TRY(night, stages.take(night));
  }
  return night;
}

Result<std::vector<NightRow>> carry_out_nights(Workshop& workshop, std::vector<NightRow> nights,
                                               const std::function<Status()>& after_each,
                                               std::stop_token stop) {
  const auto carry_out = [&](std::vector<NightRow>& some) -> Status {
    for (auto& night : some) {
      TW_TRY(night, carry_out_night(workshop, night, stop));
      TW_TRY_VOID(after_each());
    }
    return {};
  };
  TW_TRY_VOID(carry_out(nights));
  storage::NightStore store(workshop.database);
  TW_TRY(auto left, store.unfinished());
  while (!left.empty()) {
    TW_TRY_VOID(carry_out(left));
    for (const auto& night : left) {
      TW_TRY(const auto found, storage::IncidentStore(workshop.database).of_night(night.id));
      if (!found.empty()) nights.push_back(night);
    }
    TW_TRY(left, store.unfinished());
  }
  return nights;
}

Result<NightRow> open_explicit_night(Workshop& workshop, storage::Id candidate,
                                     storage::Id baseline, bool finds_incidents) {
  storage::NightStore nights(workshop.database);
  TW_TRY(auto plan, plan_of_config(workshop));
  plan.finds_incidents = finds_incidents;
  TW_TRY(const auto interrupted, nights.unfinished());
  for (const auto& night : interrupted) {
    const bool is_same = night.kind == storage::NightKind::compare &&
                         night.candidate == candidate && night.baseline == baseline &&
                         night.plan_json == to_json(plan);
    if (!is_same) continue;
    workshop.progress.note("going on with night " + std::to_string(night.id) +
                           ", which was interrupted");
    return night;
  }
  TW_TRY(const auto night, nights.opened(storage::NightKind::compare, candidate, baseline,
                                         workshop.clock.wall_now()));
  return nights.planned(night, to_json(plan));
}

}  // namespace torchwatch::nightly
