#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace torchwatch {

/// Who asked: a user of this machine, by a command or over the control socket, the holder of a
/// token, a workflow that signed in, or who wrote on GitHub.
struct Asker {
  std::optional<std::int64_t> user = {};  ///< id
  /// A token's name, which has no blank, or what names a workflow or a person on GitHub (below).
  std::string token = {};
};

/// Returns who wrote on GitHub, "github octocat"; a login that is not known is "?".
Asker github_user(std::string_view login);

/// Returns the name of a workflow that signed in: "actions OWNER/NAME@REF".
std::string name_of_workflow(std::string_view repository, std::string_view ref);

/// Returns the name of a user of this machine that does not depend on its list of users: "uid
/// 1000".
std::string name_of_user(std::int64_t id);

/// Returns "uid 1000", "token ci", "actions OWNER/NAME@REF" or "github octocat"; empty for nobody.
std::string to_string(const Asker&);

/// Returns who asked or decided, as to_string or a person says it, for a place that may be public,
/// such as an issue: "somebody on the machine", "somebody with a token" or "a workflow". What a
/// person has there as a name stays.
std::string public_text(const std::string& asker);

}  // namespace torchwatch
