#pragma once

#include <string>
#include <string_view>

namespace torchwatch {

/// Returns a word as a shell reads it as one: in single quotes unless it is plain.
std::string shell_word(std::string_view word);

}  // namespace torchwatch
