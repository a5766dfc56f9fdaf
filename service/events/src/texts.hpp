#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "torchwatch/storage/event_store.hpp"

namespace torchwatch::events {

/// Makes the data of an event.
nlohmann::json data_of(const storage::EventRow&);

/// Formats an event as it is sent.
std::string text_of(const storage::EventRow&);

/// Formats the event that tells a client that it missed some, and which is the newest.
std::string reset_text(storage::Id newest);

}  // namespace torchwatch::events
