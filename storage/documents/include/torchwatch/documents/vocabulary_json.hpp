// nlohmann-json finds these functions by their types, which no tool sees.
// IWYU pragma: always_keep
#pragma once

#include <nlohmann/json.hpp>

#include "torchwatch/records/vocabulary.hpp"
#include "torchwatch/records/words.hpp"

// The vocabulary inside stored JSON: an enumerator, a configuration and a variant are their
// spelling, a benchmark is an object, a series is its benchmark's object with the metric.
// nlohmann-json finds these functions by their types. The readers throw json::exception for a
// missing member and for a word that is not known, which their callers catch and name.

namespace torchwatch {

/// Returns a document as it is stored, on one line. What is no UTF-8 in it is replaced, so that
/// text of others never stops the work that stores it.
std::string stored_text(const nlohmann::json& document);

/// Returns what was parsed. Throws json::exception with the error's message.
template <typename Value>
Value parsed_or_throw(Result<Value> parsed) {
  if (parsed) return *std::move(parsed);
  throw nlohmann::json::other_error::create(501, parsed.error().text(), nullptr);
}

template <typename Enum>
  requires requires { Words<Enum>::kAll; }
void to_json(nlohmann::json& to, Enum value) {
  to = spelling(value);
}
template <typename Enum>
  requires requires { Words<Enum>::kAll; }
void from_json(const nlohmann::json& from, Enum& value) {
  value = parsed_or_throw(parse_word<Enum>(from.get<std::string>()));
}

void to_json(nlohmann::json&, const Configuration&);
void from_json(const nlohmann::json&, Configuration&);
void to_json(nlohmann::json&, const Variant&);
void from_json(const nlohmann::json&, Variant&);
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Benchmark, workload, configuration, variant)
void to_json(nlohmann::json&, const Series&);
void from_json(const nlohmann::json&, Series&);

}  // namespace torchwatch
