#pragma once

#include "../exchange.hpp"
#include "torchwatch/web/server.hpp"

namespace torchwatch::web::handlers {

// One endpoint each; see openapi.json for what they take and answer. One file a resource.

Result<Reply> list_nightlies(const Request&, Backend&);
Result<Reply> get_nightly(const Request&, Backend&);
Result<Reply> ask_for_nightly(const Request&, Backend&);

Result<Reply> list_incidents(const Request&, Backend&);
Result<Reply> get_incident(const Request&, Backend&);

Result<Reply> list_bisections(const Request&, Backend&);
Result<Reply> get_bisection(const Request&, Backend&);
Result<Reply> ask_for_bisection(const Request&, Backend&);

Result<Reply> list_builds(const Request&, Backend&);

Result<Reply> get_request(const Request&, Backend&);

Result<Reply> get_self_tests(const Request&, Backend&);

/// The one page for people; the others are for programs.
Result<Reply> get_overview(const Request&, Backend&);
Result<Reply> get_style_sheet(const Request&, Backend&);

Result<Reply> get_health(const Request&, Backend&);

}  // namespace torchwatch::web::handlers
