#include "torchwatch/http/server.hpp"

#include "authentication.hpp"
#include "guarded_server.hpp"
#include "representation.hpp"
#include "torchwatch/http/problem.hpp"

namespace torchwatch::http {

/// The routes behind the guard: finds the route, asks for the token, answers.
struct Server::State {
  State(ServerSettings settings, std::vector<Route> served, const platform::Clock& clock,
        log::Logger to)
      : routes(std::move(served)),
        authentication(settings.tokens, settings.local_may_read, settings.others_may_read, clock),
        budget(settings.requests_per_second, clock),
        origins(settings.cors_origins),
        closed(settings.closed),
        logger(to),
        server(settings,
               {.to_head = [this](const Request& request) { return to_head(request); },
                .to_request =
                    [this](const Request& request) {
                      return represent(request, to_request(request), origins);
                    },
                .to_arrival = [this](const Head& head,
                                     const Origin& origin) { return to_arrival(head, origin); }},
               std::move(to)) {}

  std::optional<Reply> to_arrival(const Head& head, const Origin& origin) {
    if (origin.user || authentication.identify(head.authorization)) return std::nullopt;
    return budget.refusal_of(head, origin);
  }

  std::optional<Reply> to_head(const Request& request) {
    if (!closed.empty()) return problem(503, closed, {{"Retry-After", "10"}}, "try again later");
    if (request.method == "OPTIONS" && !request.origin.empty()) {
      return answer_preflight(request, origins);
    }
    const auto found = match(routes, request);
    if (!found) return found.error();
    const Route& route = *found->route;
    if (route.scope) {
      if (auto refusal = authentication.refusal_of(request, *route.scope, route.is_page)) {
        return represent(request, std::move(*refusal), origins);
      }
    }
    const auto type = route.is_page ? kForm : "application/json";
    if (request.method == "POST" && request.content_type != type) {
      return problem(415, "the body must be " + std::string(type));
    }
    return std::nullopt;
  }

  Reply to_request(Request request) {
    auto found = match(routes, request);
    if (!found) return found.error();
    request.path_parameters = std::move(found->parameters);
    const auto identity = authentication.identify(request, found->route->is_page);
    if (identity) {
      authentication.note_use(*identity);
      request.token_name = identity->name;
      const bool is_signed_in = !identity->form_key.empty();
      if (is_signed_in) request.signed_in = SignedIn{identity->scopes, identity->form_key};
    }
    request.is_trusted = request.is_local || identity;
    auto reply = found->route->handler(request);
    if (reply && reply->has_wrong_token) {
      if (auto limited = authentication.count_wrong_token(request.remote_address)) return *limited;
    }
    if (reply) return std::move(*reply);
    if (is_internal(reply.error().code)) {
      logger.error("request failed: " + reply.error().text(),
                   {{"method", request.method}, {"path", request.path}});
    }
    return problem(reply.error());
  }

  const std::vector<Route> routes;
  Authentication authentication;
  ReadBudget budget;
  const std::vector<std::string> origins;
  const std::string closed;
  const log::Logger logger;
  GuardedServer server;  // last: it ends before what it uses
};

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<Server>> Server::start(ServerSettings settings, std::vector<Route> routes,
                                              const platform::Clock& clock, log::Logger logger) {
  auto state =
      std::make_unique<State>(std::move(settings), std::move(routes), clock, std::move(logger));
  TW_TRY_VOID(state->server.start());
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

Server::~Server() = default;

int Server::port() const {
  return state_->server.port();
}

void Server::stop() {
  state_->server.end();
}

}  // namespace torchwatch::http
