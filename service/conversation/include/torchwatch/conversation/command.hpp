#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "torchwatch/platform/clock.hpp"

namespace torchwatch::conversation {

enum class CommandName { bisect, retest, ack, unack, wrong, mute, cancel, compare, help };

std::string_view to_string(CommandName);

/// A command as it was written; what it leaves out is empty.
struct Command {
  CommandName name = CommandName::help;
  std::string good = {};  ///< of bisect: hex digits, as are the next two
  std::string bad = {};
  std::string suspect = {};
  std::string workload = {};  ///< of bisect; names are not checked yet
  std::string configuration = {};
  std::string metric = {};
  std::string target = {};                  ///< of retest and mute
  std::string disputed = {};                ///< of wrong: the commit, hex digits
  std::string head = {};                    ///< of compare: the commit, hex digits
  std::vector<std::string> workloads = {};  ///< of compare; empty: the suite
  std::chrono::hours length{0};             ///< of mute
  std::string reason = {};                  ///< one line, as it was written
  platform::WallMillis written_at = 0;      ///< as GitHub says; 0: it does not

  bool operator==(const Command&) const = default;
};

/// What is wrong with something that was meant as a command.
struct Mistake {
  std::string what = {};  ///< a sentence without foreign text
  std::string form = {};  ///< the nearest valid form; empty where none is nearer than others
};

/// Nothing, a command, or a mistake.
using Parsed = std::variant<std::monostate, Command, Mistake>;

/// Reads a comment's Markdown. A command is a line of a paragraph that begins with the prefix and a
/// name; nothing else counts: no quote, code, link, heading, item of a list or HTML. Pure: any text
/// gives an answer.
Parsed parse_command(std::string_view markdown, std::string_view prefix);

/// Returns the form of a command with that prefix: "/ack REASON".
std::string form_of(CommandName, std::string_view prefix);

}  // namespace torchwatch::conversation
