#include "torchwatch/terminal/screen.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "torchwatch/records/printable.hpp"

namespace torchwatch::terminal {
namespace {

constexpr std::string_view kEllipsis = "…";

std::optional<int> positive_number(const std::optional<std::string>& text) {
  int number = 0;
  if (!text) return std::nullopt;
  const auto* end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc{} || rest != end || number <= 0) return std::nullopt;
  return number;
}

/// Returns the byte at which the character with that number begins.
std::size_t byte_of(std::string_view text, std::size_t character) {
  std::size_t at = 0;
  while (at < text.size() && character > 0) {
    ++at;
    while (at < text.size() && continues_character(text[at])) ++at;
    --character;
  }
  return at;
}

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

std::string_view sequence_of(Tone tone) {
  switch (tone) {
    case Tone::plain:
      return "";
    case Tone::bad:
      return "\033[1;31m";
    case Tone::good:
      return "\033[32m";
    case Tone::doubtful:
      return "\033[33m";
    case Tone::strong:
      return "\033[1m";
  }
  return "";
}

}  // namespace

Screen screen_of(bool is_terminal, std::optional<int> window_columns, const Variables& variables) {
  const auto is_set = [&](const char* name) { return !variables(name).value_or("").empty(); };
  Screen screen;
  screen.is_terminal = is_terminal && variables("TERM") != "dumb";
  // What is piped is searched and parsed: nothing in it may be shortened.
  if (!is_terminal) screen.columns = kColumnsMax;
  if (is_terminal && window_columns) screen.columns = *window_columns;
  screen.columns = std::clamp(positive_number(variables("COLUMNS")).value_or(screen.columns),
                              kColumnsMin, kColumnsMax);
  const auto forces = [&](const char* name) { return is_set(name) && variables(name) != "0"; };
  const bool is_forced = forces("CLICOLOR_FORCE") || forces("FORCE_COLOR");
  screen.has_colour = !is_set("NO_COLOR") && (is_forced || screen.is_terminal);
  const auto program = variables("TERM_PROGRAM").value_or("");
  screen.has_links = screen.is_terminal && is_set("TERM") && variables("TERM") != "linux";
  screen.has_taskbar =
      screen.is_terminal && (program == "WezTerm" || program == "ghostty" || is_set("WT_SESSION") ||
                             variables("ConEmuANSI") == "ON");
  return screen;
}

Screen screen_of(int descriptor) {
  winsize window{};
  std::optional<int> columns;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): the interface of the system.
  if (ioctl(descriptor, TIOCGWINSZ, &window) == 0 && window.ws_col > 0) columns = window.ws_col;
  auto screen = screen_of(isatty(descriptor) == 1, columns, [](const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::optional<std::string>() : std::string(value);
  });
  if (window.ws_row > 0) screen.rows = window.ws_row;
  return screen;
}

std::string painted(std::string_view text, Tone tone, const Screen& screen) {
  if (!screen.has_colour || tone == Tone::plain || text.empty()) return std::string(text);
  return std::string(sequence_of(tone)).append(text).append("\033[0m");
}

std::string link_beginning(const Screen& screen) {
  return "\033]8;id=" + screen.key + ";";
}

std::string redrawing(const Screen& screen) {
  return "\033[H" + screen.key + "\033[J";
}

std::size_t width_of(std::string_view text) {
  return characters_of(text);
}

std::string elided(const std::string& text, std::size_t columns) {
  const auto width = width_of(text);
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
    const auto needed = width_of(line) + width_of(word);
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

}  // namespace torchwatch::terminal
