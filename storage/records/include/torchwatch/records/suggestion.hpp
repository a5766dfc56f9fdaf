#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torchwatch {

/// Returns the text with small letters for the capital ones of ASCII; other bytes stay.
std::string lower(std::string_view text);

/// Returns at most three known names that `word` was probably meant to be, the likeliest first: at
/// most two edits away (fewer for short words), or one name contains the other. Ignores case.
std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

/// Returns "did you mean resnet18, resnet50 or resnet152? " with a blank at its end, or an empty
/// string if no known name is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace torchwatch
