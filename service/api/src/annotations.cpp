#include <algorithm>
#include <optional>

#include "handlers.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/report/wording.hpp"
#include "torchwatch/runs/run_reader.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::api {
namespace {

using nlohmann::json;
using storage::DecisionKind;
using storage::IncidentRow;

/// Something that explains a step in the values of a series.
struct Annotation {
  storage::WallMillis at = 0;
  std::string kind;
  std::string text;
  std::string url;
};

std::string url_of(std::string_view collection, storage::Id id) {
  return std::string(collection) + "/" + std::to_string(id);
}

bool moves_it(DecisionKind kind) {
  return kind == DecisionKind::accepted || kind == DecisionKind::closed ||
         kind == DecisionKind::reopened;
}

/// The commit that the search of an incident named.
Result<std::optional<Annotation>> culprit_of(const IncidentRow& incident, const Backend& backend) {
  if (!incident.bisection) return std::nullopt;
  TW_TRY(const auto search, storage::BisectionStore(backend.database).get(*incident.bisection));
  const auto result = report::result_of(search);
  const auto culprit = result.is_object() ? result.value("culprit", json(nullptr)) : json(nullptr);
  if (!culprit.is_string()) return std::nullopt;
  auto text = "commit " + culprit.get<std::string>();
  constexpr auto kStays = bisection::RevertOutcome::change_stays;
  if (result.value("revert", "") == spelling(kStays)) text += ", " + std::string(report::kInDoubt);
  return Annotation{search.ended_at, "culprit", text, url_of("/api/v1/bisections", search.id)};
}

Status add_incident(std::vector<Annotation>& all, const IncidentRow& incident,
                    const Backend& backend) {
  const auto name = "incident " + std::to_string(incident.id);
  const auto url = url_of("/api/v1/incidents", incident.id);
  all.push_back({incident.opened_at, "opened",
                 incident.title.empty() ? name : name + ": " + incident.title, url});
  for (const auto& [kind, decision] : incident.decisions) {
    if (!moves_it(kind)) continue;
    const std::string word(to_string(kind));
    auto text = name + " " + word;
    if (!decision.by.empty()) text += " by " + decision.by;
    if (!decision.reason.empty()) text += ": " + decision.reason;
    all.push_back({decision.at, word, text, url});
  }
  TW_TRY(auto culprit, culprit_of(incident, backend));
  if (culprit) all.push_back(std::move(*culprit));
  return {};
}

/// "Model X, kernel 6.1": what tells machines apart.
std::string text_of(const storage::MachineRow& machine) {
  std::string text;
  for (const auto& [fact, label] : {std::pair{"cpu_model", ""},
                                    {"kernel", "kernel "},
                                    {"gpu_model", ""},
                                    {"gpu_driver", "driver "}}) {
    const auto found = machine.facts.find(fact);
    if (found == machine.facts.end() || found->second.empty()) continue;
    text += (text.empty() ? "" : ", ") + (label + found->second);
  }
  return text.empty() ? "another machine" : text;
}

Status add_machines(std::vector<Annotation>& all, const std::vector<storage::RunValue>& values,
                    const Backend& backend) {
  storage::RunReader reader(backend.database);
  std::optional<storage::Id> before;
  for (const auto& value : values) {
    if (!value.machine) continue;
    if (before && before != value.machine) {
      TW_TRY(const auto machine, reader.machine(*value.machine));
      all.push_back({value.measured_at, "machine", "measured on " + text_of(machine),
                     url_of("/api/v1/machines", machine.id)});
    }
    before = value.machine;
  }
  return {};
}

}  // namespace

Result<json> annotations_of(const Series& series, const std::vector<storage::RunValue>& values,
                            const Backend& backend) {
  auto listed = json::array();
  if (values.empty()) return listed;
  std::vector<Annotation> all;
  TW_TRY(const auto incidents, storage::IncidentStore(backend.database).of_series(series));
  for (const auto& incident : incidents) TW_TRY_VOID(add_incident(all, incident, backend));
  TW_TRY_VOID(add_machines(all, values, backend));
  std::erase_if(all, [&](const auto& each) { return each.at < values.front().measured_at; });
  std::ranges::stable_sort(all, {}, &Annotation::at);
  for (const auto& each : all) {
    listed.push_back({{"time", report::time_of(each.at)},
                      {"kind", each.kind},
                      {"text", each.text},
                      {"url", each.url}});
  }
  return listed;
}

}  // namespace torchwatch::api
