#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::report {

/// Returns the state's word for people: "accepted" for a closed incident whose change was accepted,
/// else the state's own.
std::string_view state_word(const storage::IncidentRow&);

/// Returns the words that incidents are listed by: those of their states, and "accepted".
std::vector<std::string> state_words();

/// Checks such a word. Errors: invalid, with all words.
Status check_state_word(std::string_view);

/// Returns whether the incident is listed by that word. An accepted one is a closed one, too.
bool is_in_state(const storage::IncidentRow&, std::string_view word);

/// Returns the decision in words, with who really asked where that is known: "disputed by ada (uid
/// 1000) on 2026-08-17 03:04 UTC: it changes a test".
std::string decision_text(const storage::DecisionRow&);

/// Returns the state with who brought it about, when and why, as decision_text; "open since
/// 2026-08-17 03:04 UTC" where nobody did.
std::string state_text(const storage::IncidentRow&);

/// Why the runs of a lost benchmark failed, as the comparison that found it says.
struct Loss {
  std::string reason;               ///< of the first series; empty for other incidents
  std::vector<std::string> output;  ///< of the first process that printed something, see last_lines
};

/// Returns that; `secrets` are redacted. Errors: of storage.
Result<Loss> loss_of(storage::Database&, const storage::IncidentRow&,
                     std::span<const std::string> secrets = {});

/// Makes {"reason", "output"}.
nlohmann::json json_of(const Loss&);

/// Returns an incident's issue as its messages, oldest first, make it: the one that opens it, with
/// the newest title and text. Nothing where none opens it.
std::optional<storage::OutboxRow> issue_in(const std::vector<storage::OutboxRow>&);

/// Says what became of the message that opens an incident's issue: "filed as issue #12"; without
/// one `unfiled` says why (IncidentRow::unfiled).
std::string issue_text(const std::vector<storage::OutboxRow>&, const std::string& unfiled = {});

/// Returns the text of an incident's issue: the newest with its title, then each comment with its
/// title, oldest first.
std::string issue_markdown(const std::vector<storage::OutboxRow>&);

/// Returns the remark on a comparison: the reason of its end, else what a recheck or a drift
/// comparison goes back to; empty where its purpose says all.
std::string remark_on(const storage::ComparisonRow&);

}  // namespace torchwatch::report
