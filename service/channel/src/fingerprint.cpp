#include "torchwatch/channel/fingerprint.hpp"

#include <map>
#include <sstream>

namespace torchwatch::channel {
namespace {

using Facts = std::map<std::string, std::string>;

/// "sha256=ab;size=12" by name; none of a text that has another form.
Facts facts_of(const std::string& fingerprint) {
  Facts facts;
  std::istringstream parts(fingerprint);
  for (std::string part; std::getline(parts, part, ';');) {
    const auto equals = part.find('=');
    if (equals == std::string::npos) return {};
    facts[part.substr(0, equals)] = part.substr(equals + 1);
  }
  return facts;
}

}  // namespace

bool is_same_file(const std::string& known, const std::string& offered) {
  if (known == offered) return true;
  const auto first = facts_of(known);
  const auto second = facts_of(offered);
  const auto hash = first.find("sha256");
  const auto other_hash = second.find("sha256");
  if (hash != first.end() && other_hash != second.end()) return hash->second == other_hash->second;
  bool is_comparable = false;
  for (const auto& [name, value] : first) {
    const auto found = second.find(name);
    if (found == second.end()) continue;
    if (found->second != value) return false;
    is_comparable = true;
  }
  return is_comparable;
}

std::string joined_fingerprint(const std::string& known, const std::string& offered) {
  auto facts = facts_of(offered);
  const auto before = facts_of(known);
  facts.insert(before.begin(), before.end());
  if (facts == before) return known;
  std::string text;
  for (const auto& [name, value] : facts) {
    text.append(text.empty() ? "" : ";").append(name).append("=").append(value);
  }
  return text;
}

}  // namespace torchwatch::channel
