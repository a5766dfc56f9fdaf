#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "torchwatch/html/fragment.hpp"

namespace torchwatch::html {

/// A parameter of a page, and the values that it may have.
struct Choice {
  std::string_view parameter;  ///< "build"
  std::string_view label;
  std::string chosen = {};
  std::vector<std::pair<std::string, std::string>> values = {};  ///< each with what people read
};

/// Makes a form that asks the page at `address` with one value of each. Only HTML has it.
Fragment choices(std::string_view address, std::string_view label,
                 const std::vector<Choice>& choices, std::string_view button);

}  // namespace torchwatch::html
