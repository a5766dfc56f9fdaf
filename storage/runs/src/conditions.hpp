#pragma once

#include <string>

namespace torchwatch::storage {

// Conditions of SQL on verdicts and on attempts.

/// The series could be measured.
inline const std::string kJudged =
    "verdict IN ('unchanged', 'regressed', 'improved', 'inconclusive')";

/// The same, and a run of the comparison was on that machine.
inline std::string judged_on_machine(const std::string& machine) {
  return kJudged +
         " AND EXISTS (SELECT 1 FROM attempt JOIN result ON result.attempt_id = attempt.id "
         "JOIN environment ON environment.id = environment_id "
         "WHERE attempt.comparison_id = comparison.id AND machine_id = " +
         machine + ")";
}

/// The attempt is of a series: those of a drill are slowed down, those of a study run under
/// settings that a series does not name.
inline const std::string kOfSeries =
    "(attempt.comparison_id IS NULL OR attempt.comparison_id NOT IN "
    "(SELECT id FROM comparison WHERE purpose IN ('drill', 'study'))) ";

/// The attempt fills its slot. An attempt with a known slot is found by the index of those alone,
/// attempt_slot_of_comparison, whose condition this is, word by word.
inline const std::string kFillsSlot = "attempt.state IN ('issued', 'done') ";

}  // namespace torchwatch::storage
