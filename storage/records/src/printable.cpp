#include "torchwatch/records/printable.hpp"

#include <algorithm>

namespace torchwatch {
namespace {

/// The bytes of a sequence that begins with `lead`; 0 for a byte that begins none.
std::size_t length_by(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  if (lead < 0xE0) return 2;
  return lead < 0xF0 ? 3 : 4;
}

/// The second byte of a sequence is narrower for some first ones: overlong forms, surrogates, and
/// what is beyond Unicode.
bool is_second(unsigned char lead, unsigned char second) {
  switch (lead) {
    case 0xE0:
      return second >= 0xA0;
    case 0xED:
      return second < 0xA0;
    case 0xF0:
      return second >= 0x90;
    case 0xF4:
      return second < 0x90;
    default:
      return true;
  }
}

/// Returns the whole character that the text begins with; empty where it begins with none.
std::string_view character_at(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const auto length = length_by(lead);
  if (length == 0 || length > text.size()) return {};
  for (const char byte : text.substr(1, length - 1)) {
    if (!continues_character(byte)) return {};
  }
  const bool is_whole = length == 1 || is_second(lead, static_cast<unsigned char>(text[1]));
  return is_whole ? text.substr(0, length) : std::string_view();
}

bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 2)
    return first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
  return (first < ' ' && first != '\n' && first != '\t') || first == 0x7F;
}

}  // namespace

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

std::size_t characters_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char byte) { return !continues_character(byte); }));
}

std::string printable(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const auto character = character_at(text);
    const bool is_shown = !character.empty() && !is_control(character);
    if (is_shown) clean += character;
    if (!is_shown) clean += '?';
    text.remove_prefix(character.empty() ? 1 : character.size());
  }
  return clean;
}

}  // namespace torchwatch
