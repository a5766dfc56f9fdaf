#pragma once

#include <string>
#include <string_view>

namespace torchwatch::triage {

/// Returns the login that an address of GitHub's own holds,
/// "1234+ada@users.noreply.github.com"; empty for every other address: nobody is guessed.
std::string login_of(std::string_view author_email);

}  // namespace torchwatch::triage
