#pragma once

#include <string>
#include <string_view>

namespace torchwatch::drawing {

/// Escapes what HTML and XML would interpret, in text and in attributes. What neither may hold
/// (control characters, broken UTF-8) becomes "?".
std::string escaped(std::string_view text);

/// Returns whether no line may break between a word and what follows the blank behind it: a figure
/// and its unit ("41.2 ms"), the ends of an interval.
bool belong_together(std::string_view word, std::string_view rest);

}  // namespace torchwatch::drawing
