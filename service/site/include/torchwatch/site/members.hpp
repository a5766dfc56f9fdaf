#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "torchwatch/platform/clock.hpp"

namespace torchwatch::pages {

// Members of what the API answers, as tables show them.

/// Returns a member as text; empty where it is null or a stranger does not see it.
inline std::string text_of(const nlohmann::json& object, const char* member) {
  const auto found = object.find(member);
  if (found == object.end() || found->is_null()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

/// Returns a time as "2026-11-20 03:16"; empty where there is none.
inline std::string minute_of(const nlohmann::json& object, const char* member) {
  const auto time = platform::parse_iso_utc(text_of(object, member));
  return time ? platform::date_and_minute(*time) : "";
}

}  // namespace torchwatch::pages
