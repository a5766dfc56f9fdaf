#pragma once

#include <string>
#include <vector>

#include "torchwatch/config/config.hpp"
#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::health {

/// What does not work at present.
struct Problem {
  std::string source;  ///< "storage", "channel", "outbox", "alarm", or an item's kind: "comparison"
  std::string item;    ///< its id or name, or a message's id; empty: about the whole service
  storage::WallMillis since = 0;  ///< 0: unknown
  std::string sentence;           ///< for strangers: without paths and without output of children
  std::string detail = {};        ///< what is wrong, where, by how much, what to do; may be empty
};

/// Returns whether the problem is that an item of work or a message waits by itself, or that a
/// message was given up, and not about the whole service.
bool is_of_item(const Problem&);

/// Returns the detail where the reader may see paths and there is one, else the sentence.
const std::string& text_of(const Problem&, bool is_trusted);

/// Returns every source of problems: parts of the service, alarms, kinds of items.
std::vector<std::string> sources();

/// Returns what a stranger reads about a source: "disk", "comparison".
std::string sentence_on(const std::string& source);

/// Returns what the database says is wrong: open alarms, what items wait for, messages that were
/// given up or wait for a right of the token. Errors: those of storage.
Result<std::vector<Problem>> stored_problems(storage::Database&);

/// Returns why the newest of the messages that failed waits; empty where none does, or only some
/// that wait by themselves. Pure.
std::string why_messages_wait(const std::vector<storage::OutboxRow>& unsent);

/// Returns which nodes of the cluster differ from others of their class, by how much and what to
/// do; empty where none does. Reads up to thirty nightlies, so a daemon asks once after each piece
/// of work. Errors: those of storage.
Result<std::string> nodes_that_differ(storage::Database&);

/// Returns what is wrong while no daemon runs: the stored problems, a disk without its reserve, and
/// nodes that differ. Errors: those of storage.
Result<std::vector<Problem>> standing_problems(storage::Database&, const config::Config&);

/// Checks that the disks of [build] cache and of [storage] path have [build] disk_reserve free.
/// Errors: unavailable, naming the folder, what is free, what is wanted and what to do.
Status require_disk_reserve(const config::Config&);

/// Checks that the disk of the database can be written: a small file beside it is written, flushed
/// and removed. Errors: unavailable, not_found (the folder).
Status require_writable_disk(const config::Config&);

}  // namespace torchwatch::health
