#include "torchwatch/channel/fingerprint.hpp"

#include <map>
#include <optional>
#include <sstream>

#include "torchwatch/digest/sha256.hpp"

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

Facts hashes_of(const Facts& facts) {
  Facts hashes;
  for (const char* name : {"sha256", "sha384", "sha512"}) {
    if (const auto found = facts.find(name); found != facts.end()) hashes.insert(*found);
  }
  return hashes;
}

/// Whether what both say is the same; nothing where they say nothing of the same.
std::optional<bool> agree(const Facts& first, const Facts& second) {
  std::optional<bool> equal;
  for (const auto& [name, value] : first) {
    const auto found = second.find(name);
    if (found != second.end()) equal = equal.value_or(true) && found->second == value;
  }
  return equal;
}

/// What follows the fingerprint of a file that was refused.
std::string mark_of(const std::string& manner) {
  constexpr std::size_t kDigits = 12;
  if (manner.empty()) return "";
  return ";manner=" + digest::sha256_hex(manner).substr(0, kDigits);
}

}  // namespace

bool is_same_file(const std::string& known, const std::string& offered) {
  if (known == offered) return true;
  const auto first = facts_of(known);
  const auto second = facts_of(offered);
  const auto hashes = agree(hashes_of(first), hashes_of(second));
  return hashes.value_or(agree(first, second).value_or(false));
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

std::string refused_fingerprint(const std::string& offered, const std::string& manner) {
  return offered.empty() ? offered : offered + mark_of(manner);
}

bool was_refused_so(const std::string& known, const std::string& manner) {
  const auto facts = facts_of(known);
  const auto mark = facts.find("manner");
  return mark == facts.end() ? manner.empty() : ";manner=" + mark->second == mark_of(manner);
}

}  // namespace torchwatch::channel
