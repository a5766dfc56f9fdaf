#include <prometheus/gauge.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <map>

#include "handlers.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/request_store.hpp"

namespace torchwatch::api {
namespace {

constexpr int kLookedThrough = 1'000;
constexpr double kMsPerSecond = 1'000;

using Counts = std::map<std::string, int>;

void add(prometheus::Registry& registry, const char* name, const char* help, const char* label,
         const Counts& counts) {
  auto& family = prometheus::BuildGauge().Name(name).Help(help).Register(registry);
  for (const auto& [value, count] : counts) family.Add({{label, value}}).Set(count);
}

void add(prometheus::Registry& registry, const char* name, const char* help, double value) {
  prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add({}).Set(value);
}

/// Says when the newest nightly's comparison ended, so that a monitor notices when data stops.
Status add_comparisons(prometheus::Registry& registry, const Backend& backend) {
  storage::ComparisonStore comparisons(backend.database);
  TW_TRY(const auto unfinished, comparisons.unfinished());
  Counts counts;
  for (const auto& row : unfinished) ++counts[std::string(to_string(row.state))];
  add(registry, "torchwatch_comparisons_unfinished", "Comparisons that have not ended", "state",
      counts);
  TW_TRY(const auto recent, comparisons.list(kLookedThrough));
  storage::WallMillis last = 0;
  for (const auto& row : recent) {
    if (row.purpose == storage::Purpose::nightly) last = std::max(last, row.ended_at);
  }
  add(registry, "torchwatch_last_nightly_ended_seconds",
      "When a nightly's comparison ended last, in seconds since 1970; 0: never",
      static_cast<double>(last) / kMsPerSecond);
  return {};
}

Status add_incidents(prometheus::Registry& registry, const Backend& backend) {
  storage::IncidentStore incidents(backend.database);
  TW_TRY(const auto recent, incidents.list(kLookedThrough));
  Counts counts{{"open", 0}, {"acknowledged", 0}};
  for (const auto& row : recent) {
    if (row.state != storage::IncidentState::closed) ++counts[std::string(to_string(row.state))];
  }
  add(registry, "torchwatch_incidents", "Incidents that are not closed, of the newest thousand",
      "state", counts);
  TW_TRY(const auto unsent, incidents.unsent());
  Counts messages{{"pending", 0}, {"sending", 0}, {"dead", 0}};
  for (const auto& row : unsent) ++messages[std::string(to_string(row.state))];
  add(registry, "torchwatch_outbox_messages", "Messages that have not been delivered", "state",
      messages);
  return {};
}

Status add_requests(prometheus::Registry& registry, const Backend& backend) {
  Counts counts;
  for (const auto state : {storage::RequestState::pending, storage::RequestState::running}) {
    TW_TRY(const auto rows, storage::RequestStore(backend.database).with_state(state));
    counts[std::string(to_string(state))] = static_cast<int>(rows.size());
  }
  add(registry, "torchwatch_requests", "Requests for work that have not ended", "state", counts);
  return {};
}

void add_problems(prometheus::Registry& registry, const Backend& backend) {
  Counts counts;
  const auto problems = backend.problems ? backend.problems() : std::vector<Problem>{};
  for (const auto& problem : problems) ++counts[problem.source];
  add(registry, "torchwatch_problems", "What does not work at present, by source", "source",
      counts);
}

}  // namespace

Result<Reply> get_metrics(const Request& request, const Backend& backend) {
  TW_TRY_VOID(http::refuse_parameters(request));
  prometheus::Registry registry;
  add_problems(registry, backend);
  TW_TRY_VOID(add_comparisons(registry, backend));
  TW_TRY_VOID(add_incidents(registry, backend));
  TW_TRY_VOID(add_requests(registry, backend));
  return Reply{.status = 200,
               .content_type = "text/plain; version=0.0.4; charset=utf-8",
               .body = prometheus::TextSerializer().Serialize(registry.Collect()),
               .headers = {}};
}

}  // namespace torchwatch::api
