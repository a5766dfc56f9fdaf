#pragma once

#include <optional>
#include <string>

#include "torchwatch/config/config.hpp"
#include "torchwatch/database/database.hpp"
#include "torchwatch/terminal/status_text.hpp"

namespace torchwatch::control {

/// Finds out who works on the database and what is wrong: the daemon is asked; where none runs, or
/// this user may not ask it, what is stored is read. Errors: those of storage.
Result<terminal::ServiceNow> service_now(storage::Database&, const config::Config&);

/// Returns the comparison that somebody works on; nothing if that is not known.
std::optional<storage::Id> comparison_at_work(const config::Config&);

/// Returns what the daemon says is wrong with a source, such as "outbox"; empty if it works, or if
/// no daemon can be asked.
std::string problem_of(const config::Config&, const std::string& source);

}  // namespace torchwatch::control
