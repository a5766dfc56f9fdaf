#pragma once

#include <stop_token>
#include <string>

#include "torchwatch/daemon/application.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::daemon {

/// The build that a person means by BUILD: a folder, else a name or version that the channel
/// lists, else a release of the wheel index, else a known build's name or commit, else a revision
/// of [source], which the recipe builds. It is brought here, checked and known to the database
/// afterwards, unless the application only reads. Errors: not_found, saying where it was looked
/// for; invalid (several commits are meant, or the commit does not build), corrupt (the tree);
/// unavailable (the channel or [source] may have it, and cannot be reached now); cancelled.
Result<storage::BuildRow> resolve_build(Application&, const std::string& text,
                                        std::stop_token stop);

/// The same without folders: what may be named by somebody who is not on this machine, because a
/// build's code is run.
Result<storage::BuildRow> published_build(Application&, const std::string& text,
                                          std::stop_token stop);

/// Returns the build of a commit, made by the recipe unless it lies in the cache. `base`: the
/// folder of a build that the recipe may start from; may be empty. Errors: invalid (it cannot be
/// built, or no recipe is configured), unavailable, cancelled.
Result<storage::BuildRow> build_of_commit(comparison::Services&, const std::string& commit,
                                          const std::string& base, std::stop_token stop);

/// The trunk commit that a person means by COMMIT: any revision of [source], or a nightly's name,
/// which is brought here if the channel has it. Errors: those of `nightly::find_trunk_commit`, and
/// of the channel.
Result<std::string> resolve_commit(Application&, const std::string& text, std::stop_token stop);

/// The same, if it is on the first-parent line of [source] branch: a commit's code is run. Errors:
/// invalid (it is not); those of `resolve_commit`.
Result<std::string> commit_on_branch(Application&, const std::string& text, std::stop_token stop);

}  // namespace torchwatch::daemon
