#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "torchwatch/records/error.hpp"
#include "torchwatch/tracker/received_store.hpp"

namespace torchwatch::webhooks {

/// Reads a delivery's body: a JSON object of at most 64 levels. Errors: invalid.
Result<nlohmann::json> parse_payload(const std::string& body);

/// Returns whether the delivery is about another repository; those of no repository are not.
bool is_of_another(const nlohmann::json& payload, const std::string& repository);

/// Returns whether the delivery is of another installation of our App; those of none are not, and
/// without an `installation` none is.
bool is_of_another_installation(const nlohmann::json& payload, std::int64_t installation);

/// Returns what of a delivery is kept; nothing of events and actions that are not used, of bots,
/// and of comments without a command. Errors: invalid (what is used lacks a member).
Result<std::optional<storage::ReceivedRow>> used_part(const std::string& event,
                                                      const nlohmann::json& payload,
                                                      const std::string& command_prefix);

}  // namespace torchwatch::webhooks
