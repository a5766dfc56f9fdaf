#pragma once

#include <stop_token>
#include <string>

#include "torchwatch/daemon/application.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::daemon {

/// The build that a person means by BUILD: a folder, else a name or version that the channel
/// lists, else a release of the wheel index. It is brought here, checked and known to the database
/// afterwards, unless the application only reads. Errors: not_found, saying where it was looked
/// for; invalid, corrupt (the tree).
Result<storage::BuildRow> resolve_build(Application&, const std::string& text,
                                        std::stop_token stop);

/// The same without folders: what may be named by somebody who is not on this machine, because a
/// build's code is run.
Result<storage::BuildRow> published_build(Application&, const std::string& text,
                                          std::stop_token stop);

/// The trunk commit that a person means by COMMIT: any revision of [source], or a nightly's name.
Result<std::string> resolve_commit(Application&, const std::string& text);

/// The same, if it is on the first-parent line of [source] branch: a commit's code is run. Errors:
/// invalid (it is not), not_found.
Result<std::string> commit_on_branch(Application&, const std::string& text);

}  // namespace torchwatch::daemon
