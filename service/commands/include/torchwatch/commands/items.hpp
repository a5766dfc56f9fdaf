#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "torchwatch/commands/command.hpp"
#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"
#include "torchwatch/terminal/table.hpp"

namespace torchwatch::commands {

/// A list that a command prints: a table for people, `{"schema": 1, "items": [...]}` for machines.
struct Items {
  terminal::Table table;
  nlohmann::json json = nlohmann::json::array();
};

/// Prints the list; `nothing` is the sentence for people where there is no item.
void print(const Invocation&, const Items&, const std::string& nothing);

/// Returns what the item waits for: "waits since 2026-08-17 03:04: no network"; empty if it does
/// not wait. Errors: those of the store.
Result<std::string> what_it_waits_for(storage::Database&, storage::ItemKind, storage::Id);

}  // namespace torchwatch::commands
