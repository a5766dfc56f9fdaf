#include "request_body.hpp"

#include <algorithm>
#include <exception>

#include "torchwatch/records/printable.hpp"

namespace torchwatch::api {
namespace {

using nlohmann::json;

constexpr int kDepthMax = 64;
constexpr std::size_t kNameMax = 200;
constexpr std::size_t kNamesMax = 100;
constexpr std::size_t kBuildMax = 4'096;

struct TooDeep : std::exception {};

/// The parser would take millions of levels; later recursion over the value would not.
json parse_shallow(const std::string& body) {
  const auto limit_depth = [](int depth, json::parse_event_t, json&) {
    if (depth > kDepthMax) throw TooDeep();
    return true;
  };
  return json::parse(body, limit_depth, false);
}

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= kNameMax && text.front() != '-' &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

Result<std::string> read_name(const json& value, const std::string& member) {
  if (value.is_string() && is_name(value.get_ref<const std::string&>())) {
    return value.get<std::string>();
  }
  return fail(ErrorCode::invalid, "\"" + member + "\" must be a string of 1 to " +
                                      std::to_string(kNameMax) +
                                      " printable characters without blanks, not beginning "
                                      "with a dash");
}

std::string listed(std::initializer_list<std::string_view> words) {
  std::string text;
  for (const auto word : words) text += (text.empty() ? "" : ", ") + std::string(word);
  return text.empty() ? "none" : text;
}

}  // namespace

Result<json> parse_object(const std::string& body, std::initializer_list<std::string_view> known) {
  json object;
  try {
    object = parse_shallow(body);
  } catch (const TooDeep&) {
    return fail(ErrorCode::invalid,
                "the body is nested deeper than " + std::to_string(kDepthMax) + " levels");
  }
  if (!object.is_object()) return fail(ErrorCode::invalid, "the body must be a JSON object");
  for (const auto& [member, value] : object.items()) {
    if (std::find(known.begin(), known.end(), member) != known.end()) continue;
    return fail(ErrorCode::invalid,
                "member \"" + member.substr(0, 100) + "\" is not known; allowed: " + listed(known));
  }
  return object;
}

Result<std::string> name_member(const json& object, const char* member) {
  const auto found = object.find(member);
  if (found == object.end()) return std::string();
  return read_name(*found, member);
}

Result<std::string> text_member(const json& object, const char* member,
                                std::size_t characters_max) {
  const auto found = object.find(member);
  if (found == object.end()) return std::string();
  const auto is_harmless = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= ' ' && byte != 0x7f) || c == '\n' || c == '\t';
  };
  if (found->is_string()) {
    const auto& text = found->get_ref<const std::string&>();
    const auto characters = characters_of(text);
    const bool fits = characters > 0 && characters <= characters_max;
    if (fits && std::ranges::all_of(text, is_harmless)) return text;
  }
  return fail(ErrorCode::invalid, "\"" + std::string(member) + "\" must be a string of 1 to " +
                                      std::to_string(characters_max) +
                                      " characters, none a control character");
}

Result<std::string> build_member(const json& object, const char* member) {
  auto text = text_member(object, member, kBuildMax);
  const bool is_name =
      text && !text->starts_with('-') && text->find_first_of("\n\t") == std::string::npos;
  if (is_name) return text;
  return fail(ErrorCode::invalid, "\"" + std::string(member) +
                                      "\" must be a build's name or a folder's path: 1 to " +
                                      std::to_string(kBuildMax) +
                                      " characters, none a control character, not beginning with "
                                      "a dash");
}

Result<std::vector<std::string>> names_member(const json& object, const char* member) {
  std::vector<std::string> names;
  const auto found = object.find(member);
  if (found == object.end()) return names;
  if (!found->is_array() || found->size() > kNamesMax) {
    return fail(ErrorCode::invalid, "\"" + std::string(member) + "\" must be a list of at most " +
                                        std::to_string(kNamesMax) + " names");
  }
  for (const auto& value : *found) {
    TW_TRY(names.emplace_back(), read_name(value, member));
  }
  return names;
}

}  // namespace torchwatch::api
