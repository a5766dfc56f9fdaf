#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "torchwatch/http/exchange.hpp"
#include "torchwatch/records/scope.hpp"

namespace torchwatch::http {

/// An endpoint. Its handler is called from several threads; an error becomes a problem reply.
struct Route {
  std::string_view method;  ///< a GET route also answers HEAD
  std::string_view path;    ///< "/a/folder/{id}": {id} is a parameter
  std::function<Result<Reply>(const Request&)> handler;
  std::optional<Scope> scope{};  ///< that a token needs; none: open to everybody
  /// For people: who is signed in needs no token, and what is posted is a form, not JSON.
  bool is_page = false;
};

/// The route for a request, with the values of its path's parameters.
struct Match {
  const Route* route = nullptr;
  std::map<std::string, std::string> parameters;
};

/// Finds the route for a request's method and path. Errors as a reply: 404, or 405 with Allow.
tl::expected<Match, Reply> match(std::span<const Route>, const Request&);

}  // namespace torchwatch::http
