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

/// Makes each of the texts lead to its page wherever it stands by itself in what is printed, where
/// the screen has links. Done last: a link has no width of its own, so tables and wrapped lines are
/// made without it. A text over two lines leads nowhere.
std::string linked(std::string_view printed, const std::vector<Link>&, const Screen&);

}  // namespace torchwatch::terminal
