#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "torchwatch/notify/notices.hpp"
#include "torchwatch/storage/event_store.hpp"

namespace torchwatch::notify {

/// What a receiver gets.
struct Notice {
  std::string event;  ///< as [[notify.webhook]] events names it
  std::string key;    ///< the same for the same thing, so that it is sent once
  std::string title = {};
  nlohmann::json facts = {};  ///< without the envelope
  std::string text = {};      ///< Markdown
};

/// Returns what an event of the database means to receivers: nothing for most. Errors: of storage.
Result<std::vector<Notice>> notices_of(const NoticeParts&, const storage::EventRow&);

}  // namespace torchwatch::notify
