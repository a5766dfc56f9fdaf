#include "torchwatch/records/shell_words.hpp"

#include <algorithm>
#include <cctype>

namespace torchwatch {
namespace {

bool is_plain_in_shell(char byte) {
  return std::isalnum(static_cast<unsigned char>(byte)) != 0 ||
         std::string_view("._/+=,:-").find(byte) != std::string_view::npos;
}

}  // namespace

std::string shell_word(std::string_view word) {
  if (!word.empty() && std::ranges::all_of(word, is_plain_in_shell)) return std::string(word);
  std::string quoted = "'";
  for (const char byte : word) quoted += byte == '\'' ? std::string("'\\''") : std::string(1, byte);
  return quoted + "'";
}

}  // namespace torchwatch
