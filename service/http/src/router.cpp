#include "torchwatch/http/router.hpp"

#include <optional>
#include <string>

#include "torchwatch/http/problem.hpp"

namespace torchwatch::http {
namespace {

/// Removes the first part, up to the next slash, from `rest` and returns it.
std::string_view take_part(std::string_view& rest) {
  const auto slash = rest.find('/', 1);
  const auto part = rest.substr(0, slash);
  rest.remove_prefix(part.size());
  return part;
}

/// Returns the values of the template's parameters; nothing if the path does not fit.
std::optional<std::map<std::string, std::string>> fit(std::string_view path_template,
                                                      std::string_view path) {
  std::map<std::string, std::string> parameters;
  while (!path_template.empty() && !path.empty()) {
    const auto wanted = take_part(path_template);
    const auto part = take_part(path);
    if (wanted.starts_with("/{") && part.size() > 1) {
      parameters[std::string(wanted.substr(2, wanted.size() - 3))] = part.substr(1);
    } else if (wanted != part) {
      return std::nullopt;
    }
  }
  if (!path_template.empty() || !path.empty()) return std::nullopt;
  return parameters;
}

}  // namespace

tl::expected<Match, Reply> match(std::span<const Route> routes, const Request& request) {
  std::string allowed;
  for (const Route& route : routes) {
    auto parameters = fit(route.path, request.path);
    if (!parameters) continue;
    if (route.method == request.method) return Match{&route, std::move(*parameters)};
    allowed += (allowed.empty() ? "" : ", ") + std::string(route.method);
    if (route.method == "GET") allowed += ", HEAD";
  }
  constexpr std::size_t kPathShown = 200;
  if (allowed.empty()) {
    return tl::unexpected(
        problem(404, "there is nothing at " + request.path.substr(0, kPathShown)));
  }
  return tl::unexpected(
      problem(405, "method not allowed; allowed: " + allowed, {{"Allow", allowed}}));
}

}  // namespace torchwatch::http
