#include "torchwatch/records/scope.hpp"

namespace torchwatch {

Scopes all_scopes() {
  Scopes all;
  for (const auto& word : Words<Scope>::kAll) all.insert(word.value);
  return all;
}

std::string to_string(const Scopes& scopes) {
  std::string text;
  for (const auto scope : scopes) text.append(text.empty() ? "" : ",").append(to_string(scope));
  return text;
}

Result<Scopes> parse_scopes(std::string_view text) {
  Scopes scopes;
  while (true) {
    const auto comma = text.find(',');
    TW_TRY(const auto scope, parse_word<Scope>(text.substr(0, comma)));
    scopes.insert(scope);
    if (comma == std::string_view::npos) return scopes;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace torchwatch
