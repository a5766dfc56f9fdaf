#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torchwatch::config {

/// The known word that `word` was probably meant to be (two slips at most, fewer in short words);
/// empty if none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace torchwatch::config
