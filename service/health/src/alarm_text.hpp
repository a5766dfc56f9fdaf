#pragma once

#include <string>

#include "torchwatch/outbox/alarm_store.hpp"

namespace torchwatch::health {

/// "No nightly has come since 2026-08-17 03:04 UTC."
std::string alarm_sentence(const storage::AlarmRow&);

/// The title of an alarm's issue.
std::string alarm_title(const storage::AlarmRow&);
/// The text, in Markdown: what is missing, what to look at, and when the issue is closed.
std::string alarm_body(const storage::AlarmRow&);
/// The comment with which the issue is closed.
std::string alarm_end(const storage::AlarmRow&);

}  // namespace torchwatch::health
