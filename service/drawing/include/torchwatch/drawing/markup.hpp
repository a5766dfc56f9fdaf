#pragma once

#include <string>
#include <string_view>

namespace torchwatch::drawing {

/// Escapes what HTML and XML would interpret, in text and in attributes. What neither may hold
/// (control characters, broken UTF-8) becomes "?".
std::string escaped(std::string_view text);

}  // namespace torchwatch::drawing
