#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "torchwatch/records/printable.hpp"

namespace torchwatch::terminal {

/// What the place that a stream is written to can show.
struct Screen {
  int columns = 80;
  int rows = 24;
  bool is_terminal = false;
  bool has_colour = false;
  bool has_links = false;    ///< makes text that leads somewhere clickable (OSC 8)
  bool has_taskbar = false;  ///< shows how much is done beside its text (OSC 9;4)
  std::string key = {};      ///< what `Output` knows torchwatch's own links and redrawing by
};

inline constexpr int kColumnsMin = 60;   ///< narrower terminals wrap
inline constexpr int kColumnsMax = 200;  ///< wider ones are not filled

/// Returns the value of an environment variable; nothing if it is not set.
using Variables = std::function<std::optional<std::string>(const char* name)>;

/// Decides from what is known of a stream. Its width is COLUMNS, else a terminal's `window_columns`
/// or 80, kept between 60 and 200; without a terminal 200. It has colours if it is a terminal and
/// TERM is not "dumb"; CLICOLOR_FORCE or FORCE_COLOR (not empty, not "0") gives them, whatever the
/// stream is, and NO_COLOR takes them away, whatever else is set. It has links if it is a terminal
/// but "dumb" and the kernel's own console. The terminals that are known to show how much is done
/// say who they are by TERM_PROGRAM, WT_SESSION or ConEmuANSI; others would show a message.
Screen screen_of(bool is_terminal, std::optional<int> window_columns, const Variables&);

/// Asks the system about an open file of this process (STDOUT_FILENO) and its environment.
Screen screen_of(int descriptor);

/// Why text stands out. A colour only repeats what a sign or a word beside it says.
enum class Tone { plain, bad, good, doubtful, strong };

/// Puts the tone's colour around the text where the screen has colours.
std::string painted(std::string_view text, Tone, const Screen&);

inline constexpr std::string_view kStringEnd = "\033\\";        ///< of a terminal's command
inline constexpr std::string_view kLinkEnd = "\033]8;;\033\\";  ///< what a link's text ends with

/// Begins a link's command for `Output`: its URL and kStringEnd follow, then its text and kLinkEnd.
std::string link_beginning(const Screen&);

/// Has `Output` clear the screen, so that what follows is drawn over what was there.
std::string redrawing(const Screen&);

/// Returns the columns that UTF-8 text without wide characters takes.
std::size_t width_of(std::string_view text);

using torchwatch::elided;
using torchwatch::wrapped;

}  // namespace torchwatch::terminal
