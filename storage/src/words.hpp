#pragma once

#include <string_view>

#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

// The inverse of to_string, for reading columns: false when the word is not one of them.
bool parse(std::string_view, BuildOrigin&);
bool parse(std::string_view, BuildState&);
bool parse(std::string_view, NightKind&);
bool parse(std::string_view, NightState&);
bool parse(std::string_view, AttemptState&);
bool parse(std::string_view, IncidentState&);
bool parse(std::string_view, BisectionState&);
bool parse(std::string_view, OutboxKind&);
bool parse(std::string_view, OutboxState&);
bool parse(std::string_view, RequestKind&);
bool parse(std::string_view, RequestState&);

// Those of records.
bool parse(std::string_view, Configuration&);
bool parse(std::string_view, Variant&);
bool parse(std::string_view, Metric&);
bool parse(std::string_view, Pass&);
bool parse(std::string_view, Verdict&);
bool parse(std::string_view, RunStatus&);
bool parse(std::string_view, IncidentKind&);

}  // namespace torchwatch::storage
