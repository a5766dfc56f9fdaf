#include "handlers.hpp"

namespace torchwatch::api {

std::vector<http::Route> routes(const Backend& backend) {
  struct Endpoint {
    std::string_view method;
    std::string_view path;
    Result<Reply> (*handler)(const Request&, const Backend&);
  };
  constexpr std::array kEndpoints{
      Endpoint{"GET", "/api/v1/comparisons", list_comparisons},
      Endpoint{"GET", "/api/v1/comparisons/{id}", get_comparison},
      Endpoint{"POST", "/api/v1/comparisons/{id}/cancel", cancel_comparison},
      Endpoint{"POST", "/api/v1/comparisons/{id}/retry", retry_comparison},
      Endpoint{"POST", "/api/v1/nightlies", ask_for_nightly},
      Endpoint{"GET", "/api/v1/incidents", list_incidents},
      Endpoint{"GET", "/api/v1/incidents/{id}", get_incident},
      Endpoint{"POST", "/api/v1/incidents/{id}/acknowledge", acknowledge_incident},
      Endpoint{"POST", "/api/v1/incidents/{id}/accept", accept_incident},
      Endpoint{"POST", "/api/v1/incidents/{id}/close", close_incident},
      Endpoint{"GET", "/api/v1/bisections", list_bisections},
      Endpoint{"POST", "/api/v1/bisections", ask_for_bisection},
      Endpoint{"GET", "/api/v1/bisections/{id}", get_bisection},
      Endpoint{"GET", "/api/v1/builds", list_builds},
      Endpoint{"GET", "/api/v1/requests/{id}", get_request},
      Endpoint{"POST", "/api/v1/requests/{id}/cancel", cancel_request},
      Endpoint{"POST", "/api/v1/outbox/retry", retry_message},
      Endpoint{"GET", "/api/v1/self-tests", get_self_tests},
      Endpoint{"GET", "/healthz", get_health}};
  std::vector<http::Route> routes;
  for (const auto& endpoint : kEndpoints) {
    const auto handle = [backend, handler = endpoint.handler](const Request& request) {
      return handler(request, backend);
    };
    routes.push_back({.method = endpoint.method,
                      .path = endpoint.path,
                      .handler = handle,
                      .needs_token = endpoint.method != "GET"});
  }
  return routes;
}

}  // namespace torchwatch::api
