#pragma once

#include <optional>
#include <string>

#include "connection.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::storage {

/// Queues a message about an incident or an alarm, with its digest; the same key again changes
/// nothing. Only title, body and date of `row` are read.
void insert_message(Connection&, const std::string& key, OutboxKind, std::optional<Id> incident,
                    std::optional<Id> alarm, const OutboxRow& row);

}  // namespace torchwatch::storage
