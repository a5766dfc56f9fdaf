#pragma once

#include <string_view>

namespace torchwatch::executor {

inline constexpr std::string_view kPlacedPrefix = "placed-";

}  // namespace torchwatch::executor
