#include "handlers.hpp"

namespace torchwatch::api {

std::vector<http::Route> routes(const Backend& backend) {
  struct Endpoint {
    std::string_view method;
    std::string_view path;
    Result<Reply> (*handler)(const Request&, const Backend&);
    bool needs_token = false;
  };
  constexpr std::array kEndpoints{
      Endpoint{"GET", "/api/v1/comparisons", list_comparisons},
      Endpoint{"GET", "/api/v1/comparisons/{id}", get_comparison},
      Endpoint{"POST", "/api/v1/nightlies", ask_for_nightly, true},
      Endpoint{"GET", "/api/v1/incidents", list_incidents},
      Endpoint{"GET", "/api/v1/incidents/{id}", get_incident},
      Endpoint{"POST", "/api/v1/incidents/{id}/acknowledge", acknowledge_incident, true},
      Endpoint{"POST", "/api/v1/incidents/{id}/accept", accept_incident, true},
      Endpoint{"POST", "/api/v1/incidents/{id}/close", close_incident, true},
      Endpoint{"GET", "/api/v1/bisections", list_bisections},
      Endpoint{"POST", "/api/v1/bisections", ask_for_bisection, true},
      Endpoint{"GET", "/api/v1/bisections/{id}", get_bisection},
      Endpoint{"GET", "/api/v1/builds", list_builds},
      Endpoint{"GET", "/api/v1/requests/{id}", get_request},
      Endpoint{"GET", "/api/v1/self-tests", get_self_tests},
      Endpoint{"GET", "/healthz", get_health}};
  std::vector<http::Route> routes;
  for (const auto& endpoint : kEndpoints) {
    const auto handle = [backend, handler = endpoint.handler](const Request& request) {
      return handler(request, backend);
    };
    routes.push_back({endpoint.method, endpoint.path, handle, endpoint.needs_token});
  }
  return routes;
}

}  // namespace torchwatch::api
