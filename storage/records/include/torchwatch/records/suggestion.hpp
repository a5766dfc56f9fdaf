#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torchwatch {

/// The known names that `word` was probably meant to be, likeliest first, three at most: two slips
/// of the pen away (fewer in short words), or one in the other. Upper and lower case count as one.
std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

/// "did you mean resnet18, resnet50 or resnet152? ", with a blank for what follows; empty if no
/// known name is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace torchwatch
