#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "exchange.hpp"
#include "torchwatch/web/server.hpp"

namespace torchwatch::web {

/// An endpoint. `openapi.json` beside this room describes the same table; a test holds the two
/// against each other.
struct Route {
  std::string_view method;
  std::string_view path;  ///< "/api/v1/nightlies/{id}"
  Result<Reply> (*handler)(const Request&, Backend&);
  bool needs_token;
};

std::span<const Route> routes();

/// The route for a request, with its path parameters filled in.
struct Match {
  const Route* route = nullptr;
  std::map<std::string, std::string> parameters;
};
/// Errors as a reply: 404, or 405 with Allow.
tl::expected<Match, Reply> match(const Request&);

}  // namespace torchwatch::web
