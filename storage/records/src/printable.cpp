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

/// Whether the character only changes the order in which those beside it are shown.
bool is_direction(std::string_view character) {
  if (character.size() != 3) return false;
  const auto last = static_cast<unsigned char>(character[2]);
  if (character.starts_with("\xE2\x80")) {
    return last == 0x8E || last == 0x8F || (last >= 0xAA && last <= 0xAE);
  }
  return character.starts_with("\xE2\x81") && last >= 0xA6 && last <= 0xA9;
}

bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 2)
    return first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
  return (first < ' ' && first != '\n' && first != '\t') || first == 0x7F ||
         is_direction(character);
}

constexpr std::string_view kEllipsis = "…";

/// Returns the size of what may not be broken: a word, a command in backquotes, a number with "%".
std::size_t unbroken(std::string_view text) {
  bool is_quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '`') is_quoted = !is_quoted;
    const bool is_percentage = text.substr(at).starts_with(" %");
    if (text[at] == ' ' && !is_quoted && !is_percentage) return at;
  }
  return text.size();
}

}  // namespace

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

std::size_t characters_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char byte) { return !continues_character(byte); }));
}

std::size_t byte_of(std::string_view text, std::size_t character) {
  std::size_t at = 0;
  while (at < text.size() && character > 0) {
    ++at;
    while (at < text.size() && continues_character(text[at])) ++at;
    --character;
  }
  return at;
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

std::string elided(const std::string& text, std::size_t columns) {
  const auto width = characters_of(text);
  if (width <= columns) return text;
  if (columns == 0) return "";
  const auto head = columns / 2;
  const auto tail = columns - 1 - head;
  return text.substr(0, byte_of(text, head))
      .append(kEllipsis)
      .append(text.substr(byte_of(text, width - tail)));
}

std::string wrapped(std::string_view text, int columns, std::size_t indent) {
  std::string lines;
  std::string line;
  while (!text.empty()) {
    const auto end = unbroken(text);
    const auto word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto needed = characters_of(line) + characters_of(word);
    if (line.size() > indent && needed >= static_cast<std::size_t>(columns)) {
      line.erase(line.find_last_not_of(' ') + 1);
      lines += line + '\n';
      line = std::string(indent, ' ');
    }
    line.append(word).append(" ");
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return lines + line + '\n';
}

}  // namespace torchwatch
