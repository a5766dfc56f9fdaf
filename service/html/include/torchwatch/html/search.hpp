#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "torchwatch/html/fragment.hpp"

namespace torchwatch::html {

/// Makes a field that asks the page at `address` for what is typed, in that parameter, with those
/// others beside it; ones without a value are left out. Only HTML has it.
Fragment search(std::string_view address, std::string_view parameter, std::string_view label,
                std::string_view typed,
                const std::vector<std::pair<std::string_view, std::string>>& others = {});

}  // namespace torchwatch::html
