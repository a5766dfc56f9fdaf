#include "torchwatch/terminal/screen.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "torchwatch/records/printable.hpp"

namespace torchwatch::terminal {
namespace {

std::optional<int> positive_number(const std::optional<std::string>& text) {
  int number = 0;
  if (!text) return std::nullopt;
  const auto* end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc{} || rest != end || number <= 0) return std::nullopt;
  return number;
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

}  // namespace torchwatch::terminal
