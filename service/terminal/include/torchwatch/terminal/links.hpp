#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/terminal/screen.hpp"

namespace torchwatch::terminal {

/// Where a text leads: a commit's short sha, an issue's number.
struct Link {
  std::string text;
  std::string url;
};

/// Returns each word of twelve hex digits, which may be a commit's short sha, once.
std::vector<std::string> short_shas_in(std::string_view printed);

/// Returns the number of each "issue #12", once.
std::vector<std::string> issues_in(std::string_view printed);

/// Makes each of the texts lead to its page wherever it stands by itself in what is printed, where
/// the screen has links. Done last: a link has no width of its own, so tables and wrapped lines are
/// made without it. A text over two lines leads nowhere.
std::string linked(std::string_view printed, const std::vector<Link>&, const Screen&);

}  // namespace torchwatch::terminal
