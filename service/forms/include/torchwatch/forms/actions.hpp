#pragma once

#include <string>
#include <utility>
#include <vector>

#include "torchwatch/site/parts.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::forms {

using pages::View;

// What the reader of a page may do with what it shows, as forms; for who may not, how to get the
// right. Only HTML has it. Nothing where nothing can be done.

/// `names_culprit`: its search named a commit, which can be disputed.
html::Fragment for_incident(const storage::IncidentRow&, bool names_culprit, const View&);

/// A button that asks for the comparison of two builds. Errors: those of storage.
Result<html::Fragment> for_pair(const pages::Pair&, const View&);

html::Fragment for_comparison(const storage::ComparisonRow&, const View&);
html::Fragment for_bisection(const storage::BisectionRow&, const View&);
html::Fragment for_request(storage::Id, bool has_ended, const View&);
/// Pins the files of a build, lets them go or removes them; nothing for files that are not in the
/// cache.
html::Fragment for_build(storage::Id, const report::BuildFiles&, const View&);
html::Fragment for_mute(storage::Id, const View&);

/// A comparison, bisection or request that waits or runs.
using QueuedItem = std::pair<storage::ItemKind, storage::Id>;
/// A button for each that cancels it; its page then says so.
html::Fragment for_queue(const std::vector<QueuedItem>&, const View&);

/// A message of the outbox: its key, and what people call it.
using Message = std::pair<std::string, std::string>;
html::Fragment for_messages(const std::vector<Message>&, const View&);

}  // namespace torchwatch::forms
