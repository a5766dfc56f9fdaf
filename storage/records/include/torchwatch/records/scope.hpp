#pragma once

#include <set>
#include <string>
#include <string_view>

#include "torchwatch/records/words.hpp"

namespace torchwatch {

/// What a token allows over HTTP. Every token may also read.
enum class Scope {
  read,
  triage,   ///< deciding on incidents
  measure,  ///< asking for work, cancelling and retrying it
  admin,    ///< tokens, builds, the database
};

template <>
struct Words<Scope> {
  static constexpr std::string_view kKind = "scope";
  static constexpr std::array kAll{Word{Scope::read, "read"}, Word{Scope::triage, "triage"},
                                   Word{Scope::measure, "measure"}, Word{Scope::admin, "admin"}};
};

constexpr std::string_view to_string(Scope scope) {
  return spelling(scope);
}

using Scopes = std::set<Scope>;

Scopes all_scopes();
/// The scopes as they are stored and given on a command line: "read,triage".
std::string to_string(const Scopes&);
/// Reads at least one scope, separated by commas. Errors: invalid, with every scope there is.
Result<Scopes> parse_scopes(std::string_view);

}  // namespace torchwatch
