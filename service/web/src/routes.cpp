#include <array>

#include "handlers/handlers.hpp"
#include "router.hpp"

namespace torchwatch::web {

std::span<const Route> routes() {
  using namespace handlers;  // NOLINT: the table reads better
  static constexpr std::array kRoutes{Route{"GET", "/api/v1/nightlies", list_nightlies, false},
                                      Route{"POST", "/api/v1/nightlies", ask_for_nightly, true},
                                      Route{"GET", "/api/v1/nightlies/{id}", get_nightly, false},
                                      Route{"GET", "/api/v1/incidents", list_incidents, false},
                                      Route{"GET", "/api/v1/incidents/{id}", get_incident, false},
                                      Route{"GET", "/api/v1/bisections", list_bisections, false},
                                      Route{"POST", "/api/v1/bisections", ask_for_bisection, true},
                                      Route{"GET", "/api/v1/bisections/{id}", get_bisection, false},
                                      Route{"GET", "/api/v1/builds", list_builds, false},
                                      Route{"GET", "/api/v1/requests/{id}", get_request, false},
                                      Route{"GET", "/api/v1/self-tests", get_self_tests, false},
                                      Route{"GET", "/", get_overview, false},
                                      Route{"GET", "/style.css", get_style_sheet, false},
                                      Route{"GET", "/healthz", get_health, false}};
  return kRoutes;
}

}  // namespace torchwatch::web
