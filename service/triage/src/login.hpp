#pragma once

#include <string>
#include <string_view>

namespace torchwatch::triage {

/// Returns the login that an address of GitHub's own holds,
/// "1234+ada@users.noreply.github.com"; empty for every other address: nobody is guessed.
std::string login_of(std::string_view author_email);

/// Returns who decided, or why something ended ("cancelled by uid 1000"), as an issue says it: the
/// tracker may be public, so a user of this machine who gave no name is "somebody on the machine",
/// and a token that cancelled "somebody with a token".
std::string without_asker(const std::string& text);

}  // namespace torchwatch::triage
