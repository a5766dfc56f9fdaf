#include "handlers.hpp"

namespace torchwatch::api {

namespace {

struct Endpoint {
  std::string_view method;
  std::string_view path;
  Result<Reply> (*handler)(const Request&, const Backend&);
  std::optional<Scope> scope = Scope::read;
};

constexpr std::array kEndpoints{
    Endpoint{"GET", "/api/v1/comparisons", list_comparisons},
    // Before the path that would take "current" for an id.
    Endpoint{"GET", "/api/v1/comparisons/current", get_current_comparison},
    Endpoint{"GET", "/api/v1/comparisons/{id}", get_comparison},
    Endpoint{"GET", "/api/v1/comparisons/{id}/matrix", get_matrix},
    Endpoint{"GET", "/api/v1/comparisons/{id}/sparklines", get_sparklines},
    Endpoint{"POST", "/api/v1/comparisons/{id}/cancel", cancel_comparison, Scope::measure},
    Endpoint{"POST", "/api/v1/comparisons/{id}/retry", retry_comparison, Scope::measure},
    Endpoint{"POST", "/api/v1/comparisons", ask_for_comparison, Scope::measure},
    Endpoint{"POST", "/api/v1/measurements", ask_for_measurement, Scope::measure},
    Endpoint{"GET", "/api/v1/nightlies", list_nightlies},
    Endpoint{"GET", "/api/v1/nightlies/{name}", get_nightly},
    Endpoint{"POST", "/api/v1/nightlies", ask_for_nightly, Scope::measure},
    Endpoint{"GET", "/api/v1/incidents", list_incidents},
    Endpoint{"GET", "/api/v1/incidents/{id}", get_incident},
    Endpoint{"GET", "/api/v1/incidents/{id}/evidence", get_evidence},
    Endpoint{"POST", "/api/v1/incidents/{id}/acknowledge", acknowledge_incident, Scope::triage},
    Endpoint{"POST", "/api/v1/incidents/{id}/accept", accept_incident, Scope::triage},
    Endpoint{"POST", "/api/v1/incidents/{id}/close", close_incident, Scope::triage},
    Endpoint{"POST", "/api/v1/incidents/{id}/reopen", reopen_incident, Scope::triage},
    Endpoint{"POST", "/api/v1/incidents/{id}/dispute", dispute_incident, Scope::triage},
    Endpoint{"POST", "/api/v1/incidents/{id}/retest", retest_incident, Scope::measure},
    Endpoint{"GET", "/api/v1/mutes", list_mutes}, Endpoint{"GET", "/api/v1/mutes/{id}", get_mute},
    Endpoint{"POST", "/api/v1/mutes/{id}/lift", lift_mute, Scope::triage},
    Endpoint{"GET", "/api/v1/bisections", list_bisections},
    Endpoint{"POST", "/api/v1/bisections", ask_for_bisection, Scope::measure},
    Endpoint{"GET", "/api/v1/bisections/{id}", get_bisection},
    Endpoint{"GET", "/api/v1/bisections/{id}/steps", get_steps},
    Endpoint{"POST", "/api/v1/bisections/{id}/cancel", cancel_bisection, Scope::measure},
    Endpoint{"GET", "/api/v1/comparisons/{id}/runs", list_runs_of_comparison},
    Endpoint{"GET", "/api/v1/bisections/{id}/runs", list_runs_of_bisection},
    Endpoint{"GET", "/api/v1/runs/{id}", get_run},
    Endpoint{"GET", "/api/v1/runs/{id}/samples", get_samples},
    Endpoint{"GET", "/api/v1/workloads", list_workloads},
    Endpoint{"GET", "/api/v1/workloads/{name}", get_workload},
    Endpoint{"GET", "/api/v1/machines", list_machines},
    Endpoint{"GET", "/api/v1/machines/compare", compare_machines},
    Endpoint{"GET", "/api/v1/machines/{id}", get_machine},
    Endpoint{"GET", "/api/v1/events", follow_events},
    Endpoint{"GET", "/api/v1/builds", list_builds},
    Endpoint{"POST", "/api/v1/builds", fetch_build, Scope::admin},
    Endpoint{"GET", "/api/v1/builds/{id}", get_build},
    Endpoint{"DELETE", "/api/v1/builds/{id}", remove_build, Scope::admin},
    Endpoint{"POST", "/api/v1/builds/{id}/pin", pin_build, Scope::admin},
    Endpoint{"POST", "/api/v1/builds/{id}/unpin", unpin_build, Scope::admin},
    Endpoint{"GET", "/api/v1/requests", list_requests},
    Endpoint{"GET", "/api/v1/requests/{id}", get_request},
    Endpoint{"POST", "/api/v1/requests/{id}/cancel", cancel_request, Scope::measure},
    Endpoint{"GET", "/api/v1/outbox", list_outbox},
    Endpoint{"POST", "/api/v1/outbox/retry", retry_message, Scope::measure},
    Endpoint{"GET", "/api/v1/series", list_series},
    Endpoint{"GET", "/api/v1/series/{workload}/{configuration}/{variant}/{metric}", get_history},
    Endpoint{"GET", "/api/v1/series/{workload}/{configuration}/{variant}/{metric}/past", get_past},
    Endpoint{"GET", "/api/v1/self-tests", get_self_tests},
    Endpoint{"GET", "/api/v1/audits", get_audits},
    Endpoint{"GET", "/api/v1/breakdown", get_breakdown},
    Endpoint{"GET", "/api/v1/coverage", get_coverage}, Endpoint{"GET", "/api/v1/queue", list_queue},
    Endpoint{"GET", "/api/v1/search", search},
    Endpoint{"GET", "/api/v1/audit", list_audit, Scope::admin},
    Endpoint{"GET", "/api/v1/tokens", list_tokens, Scope::admin},
    Endpoint{"POST", "/api/v1/tokens", add_token, Scope::admin},
    Endpoint{"POST", "/api/v1/tokens/{id}/revoke", revoke_token, Scope::admin},
    Endpoint{"POST", "/api/v1/database/backup", back_up_database, Scope::admin},
    Endpoint{"POST", "/api/v1/database/check", check_database, Scope::admin},
    Endpoint{"POST", "/api/v1/database/gc", tidy_caches, Scope::admin},
    Endpoint{"GET", "/api/v1/openapi.json", get_description},
    Endpoint{"GET", "/metrics", get_metrics},
    Endpoint{"GET", "/healthz", get_health, std::nullopt}};

}  // namespace

std::vector<http::Route> routes(const Backend& changing, const Backend& reading) {
  std::vector<http::Route> routes;
  for (const auto& endpoint : kEndpoints) {
    const bool is_change = endpoint.method != "GET";
    const auto& backend = is_change ? changing : reading;
    const auto handle = [backend, handler = endpoint.handler,
                         is_change](const Request& request) -> Result<Reply> {
      TW_TRY(auto reply, handler(request, backend));
      const bool is_made = is_change && reply.status < 300;
      if (is_made) TW_TRY_VOID(note_asker(request, backend));
      return reply;
    };
    routes.push_back({.method = endpoint.method,
                      .path = endpoint.path,
                      .handler = handle,
                      .scope = endpoint.scope});
  }
  return routes;
}

}  // namespace torchwatch::api
