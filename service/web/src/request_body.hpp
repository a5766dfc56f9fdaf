#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/records/error.hpp"

namespace torchwatch::web {

/// A body as a JSON object of at most 64 levels that has no other members than `known`.
/// Errors: invalid, naming the member and what is allowed.
Result<nlohmann::json> parse_object(const std::string& body,
                                    std::initializer_list<std::string_view> known);

/// A revision, build or workload as somebody may name it: 1 to 200 printable ASCII characters
/// without blanks, not beginning with a dash (it may become a program's argument). Empty when the
/// member is absent. Errors: invalid.
Result<std::string> name_member(const nlohmann::json& object, const char* member);

/// At most 100 names; empty when absent. Errors: invalid.
Result<std::vector<std::string>> names_member(const nlohmann::json& object, const char* member);

/// A word of the vocabulary; "" when absent. `parse` is one of the vocabulary's parse_*.
template <typename Parse>
Result<std::string> word_member(const nlohmann::json& object, const char* member, Parse parse) {
  TW_TRY(std::string word, name_member(object, member));
  if (word.empty()) return word;
  if (const auto known = parse(word); !known) return fail(known.error().within(member));
  return word;
}

}  // namespace torchwatch::web
