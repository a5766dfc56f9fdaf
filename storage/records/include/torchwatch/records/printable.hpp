#pragma once

#include <string>
#include <string_view>

namespace torchwatch {

/// Returns text of others as it may be stored and shown: "?" stands for each byte that is no UTF-8
/// and for each control character but line break and tab, so that no text moves a cursor, hides
/// what stands beside it, or breaks JSON.
std::string printable(std::string_view text);

}  // namespace torchwatch
