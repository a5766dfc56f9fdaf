#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/records/error.hpp"

namespace torchwatch::api {

/// Reads a body as a JSON object of at most 64 levels whose members are all `known`. Errors:
/// invalid, naming the member and what is allowed.
Result<nlohmann::json> parse_object(const std::string& body,
                                    std::initializer_list<std::string_view> known);

/// Reads a name: 1 to 200 printable ASCII characters without blanks, not beginning with a dash (it
/// may become a program's argument). Returns "" if the member is absent. Errors: invalid.
Result<std::string> name_member(const nlohmann::json& object, const char* member);

/// Reads a text for people: 1 to `characters_max` characters, none a control character but tabs and
/// line breaks. Returns "" if the member is absent. Errors: invalid.
Result<std::string> text_member(const nlohmann::json& object, const char* member,
                                std::size_t characters_max);

/// Reads the name of a build, which may be a folder's path: 1 to 4,096 characters, none a control
/// character, not beginning with a dash. Returns "" if the member is absent. Errors: invalid.
Result<std::string> build_member(const nlohmann::json& object, const char* member);

/// Reads a list of at most 100 names; empty if the member is absent. Errors: invalid.
Result<std::vector<std::string>> names_member(const nlohmann::json& object, const char* member);

/// Reads a name that `parse` accepts (any function from text to Result); "" if the member is
/// absent. Errors: invalid.
template <typename Parse>
Result<std::string> word_member(const nlohmann::json& object, const char* member, Parse parse) {
  TW_TRY(std::string word, name_member(object, member));
  if (word.empty()) return word;
  if (const auto known = parse(word); !known) return fail(known.error().within(member));
  return word;
}

}  // namespace torchwatch::api
