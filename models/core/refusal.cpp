#include "refusal.hpp"

#include <regex>
#include <string_view>

namespace torchwatch::models {

std::string first_line_of(const std::exception& error) {
  const std::string text = error.what();
  constexpr std::string_view kOfOperator = "\nRuntimeError: ";
  const auto at = text.find(kOfOperator);
  const auto begin = at == std::string::npos ? 0 : at + kOfOperator.size();
  const auto line = text.substr(begin, text.find('\n', begin) - begin);
  return std::regex_replace(line, std::regex(" object at 0x[0-9a-f]+"), "");
}

}  // namespace torchwatch::models
