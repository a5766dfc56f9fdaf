#pragma once

#include <optional>
#include <string>
#include <vector>

#include "torchwatch/database/database.hpp"
#include "torchwatch/records/error.hpp"
#include "torchwatch/storage/rows.hpp"

namespace torchwatch::requests {

/// Who asks. Builds and commits are code that is run: only who is on this machine may name folders,
/// builds that others made, and commits beside [source] branch.
enum class Asking { from_this_machine, from_elsewhere };

/// Quotes a text that somebody sent, as much of it as a message shows.
std::string quoted(const std::string& text);

/// Says that there is no such build, what is allowed, and which of the `published` was probably
/// meant. Its code is not_found.
Error unknown_build(const std::string& text, Asking,
                    const std::vector<std::string>& published = {});

/// The same to who is on this machine, or that the files of a build which is known are gone. An
/// error of storage stands in its place.
Error missing_build(storage::Database&, const std::string& text,
                    const std::vector<std::string>& published = {});

/// Returns whether a text looks like a version of the wheel index: "2.12.1".
bool is_release(const std::string& text);

/// Returns whether a text looks like a nightly of an index: "2.15.0.dev20260816+cpu".
bool is_nightly_version(const std::string& text);

/// Returns the newest known build of that name or commit (at least 7 digits of it) whose tree is
/// there; nothing if there is none. Errors: invalid (several commits are meant), of storage.
Result<std::optional<storage::BuildRow>> known_build(storage::Database&, const std::string& text);

}  // namespace torchwatch::requests
