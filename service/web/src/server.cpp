#include "torchwatch/web/server.hpp"

#include "authentication.hpp"
#include "guarded_server.hpp"
#include "http_errors.hpp"
#include "router.hpp"

namespace torchwatch::web {

/// The API behind the guard: finds the route, asks for the token, answers.
struct Server::State {
  State(ServerSettings settings, Backend from)
      : backend(std::move(from)),
        authentication(settings.token_sha256, backend.clock),
        server(settings, {[this](const Request& request) { return to_head(request); },
                          [this](const Request& request) { return to_request(request); },
                          [this](const std::string& text) { log(text); }}) {}

  std::optional<Reply> to_head(const Request& request) {
    const auto found = match(request);
    if (!found) return found.error();
    if (found->route->needs_token) {
      if (auto refusal = authentication.refusal_of(request)) return refusal;
    }
    if (request.method == "POST" && request.content_type != "application/json") {
      return problem(415, "the body must be application/json");
    }
    return std::nullopt;
  }

  Reply to_request(Request request) {
    auto found = match(request);
    if (!found) return found.error();
    request.path_parameters = std::move(found->parameters);
    auto reply = found->route->handler(request, backend);
    if (reply) return std::move(*reply);
    if (is_internal(reply.error().code)) {
      log("web: " + request.method + " " + request.path + ": " + reply.error().message);
    }
    return problem(reply.error());
  }

  void log(const std::string& text) const {
    if (backend.log) backend.log(text);
  }

  Backend backend;
  Authentication authentication;
  GuardedServer server;  // last: it ends before what it asks
};

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<Server>> Server::start(ServerSettings settings, Backend backend) {
  auto state = std::make_unique<State>(std::move(settings), std::move(backend));
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

}  // namespace torchwatch::web
