#include "torchwatch/conversation/command.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <map>
#include <vector>

#include "command_lines.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/records/suggestion.hpp"

namespace torchwatch::conversation {
namespace {

using Words = std::vector<std::string>;
using Read = std::variant<Command, std::string>;  ///< or what is wrong

constexpr int kDaysMax = 366;
constexpr std::size_t kReasonBytesMax = 1'000;
constexpr std::size_t kWordBytesMax = 200;
constexpr std::size_t kWorkloadsMax = 100;

struct Form {
  CommandName name;
  std::string_view word;
  std::string_view rest;
};

constexpr std::array kForms{Form{CommandName::bisect, "bisect",
                                 " [SHA | GOOD..BAD] [workload=NAME] [config=NAME] [metric=NAME]"},
                            Form{CommandName::retest, "retest", " [WORKLOAD[/CONFIGURATION]]"},
                            Form{CommandName::ack, "ack", " REASON"},
                            Form{CommandName::unack, "unack", ""},
                            Form{CommandName::wrong, "wrong", " [SHA] REASON"},
                            Form{CommandName::mute, "mute", " TARGET 14d REASON"},
                            Form{CommandName::cancel, "cancel", ""},
                            Form{CommandName::compare, "compare", " [SHA] [WORKLOAD ...]"},
                            Form{CommandName::help, "help", ""}};

const Form& form(CommandName name) {
  return *std::ranges::find(kForms, name, &Form::name);
}

Words words_of(std::string_view text) {
  Words words;
  constexpr std::string_view kBlank = " \t\v\f";
  for (auto at = text.find_first_not_of(kBlank); at != std::string_view::npos;) {
    const auto end = text.find_first_of(kBlank, at);
    words.emplace_back(text.substr(at, end == std::string_view::npos ? end : end - at));
    at = end == std::string_view::npos ? end : text.find_first_not_of(kBlank, end);
  }
  return words;
}

std::string joined(const Words& words, std::size_t from) {
  std::string text;
  for (auto i = from; i < words.size(); ++i) text += (text.empty() ? "" : " ") + words[i];
  return text.substr(0, kReasonBytesMax);
}

bool is_sha(const std::string& word) {
  return is_hex(lower(word), 7, 40);
}

/// Whether a name may be looked for: what is not one is refused before anybody looks.
bool is_plain_name(const std::string& word) {
  return !word.empty() && word.size() <= kWordBytesMax && word.front() != '-' &&
         std::ranges::all_of(word, [](char c) { return c > ' ' && c < '\x7f' && c != '`'; });
}

/// Reads "GOOD..BAD" or a commit; what is wrong, or nothing.
std::string read_commits(const std::string& word, Command& command) {
  if (!command.suspect.empty() || !command.good.empty()) {
    return "commits are given twice: one SHA, or GOOD..BAD";
  }
  const auto dots = word.find("..");
  if (dots == std::string::npos) {
    if (!is_sha(word)) return "a commit is 7 to 40 hexadecimal digits, and options are KEY=VALUE";
    command.suspect = lower(word);
    return "";
  }
  const auto good = word.substr(0, dots);
  const auto bad = word.substr(dots + 2);
  if (!is_sha(good) || !is_sha(bad))
    return "both commits of a range are 7 to 40 hexadecimal digits";
  command.good = lower(good);
  command.bad = lower(bad);
  return "";
}

Read read_bisect(const Words& words, Command command) {
  const std::map<std::string, std::string*> options{{"workload", &command.workload},
                                                    {"config", &command.configuration},
                                                    {"metric", &command.metric}};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto equals = words[i].find('=');
    if (equals == std::string::npos) {
      if (auto wrong = read_commits(words[i], command); !wrong.empty()) return wrong;
      continue;
    }
    const auto option = options.find(words[i].substr(0, equals));
    if (option == options.end()) {
      return did_you_mean(words[i].substr(0, equals), {"workload", "config", "metric"}) +
             "the options are workload=, config= and metric=";
    }
    if (!option->second->empty()) return "option " + option->first + "= is given twice";
    *option->second = words[i].substr(equals + 1);
    if (!is_plain_name(*option->second)) return "option " + option->first + "= has no name";
  }
  return command;
}

Read read_retest(const Words& words, Command command) {
  if (words.size() > 2) return std::string("retest takes one target");
  if (words.size() == 2) command.target = words[1];
  if (words.size() == 2 && !is_plain_name(command.target)) return std::string("invalid target");
  return command;
}

Read read_reason(const Words& words, Command command) {
  command.reason = joined(words, 1);
  if (command.reason.empty()) return std::string("the reason is missing");
  return command;
}

Read read_nothing(const Words& words, Command command) {
  if (words.size() > 1) return std::string("nothing follows this command");
  return command;
}

Read read_wrong(const Words& words, Command command) {
  const bool has_sha = words.size() > 1 && is_sha(words[1]);
  if (has_sha) command.disputed = lower(words[1]);
  command.reason = joined(words, has_sha ? 2 : 1);
  if (command.reason.empty()) return std::string("the reason is missing");
  return command;
}

Read read_mute(const Words& words, Command command) {
  if (words.size() < 4) {
    return std::string("a target, how long (such as 14d) and a reason are needed");
  }
  command.target = words[1];
  if (!is_plain_name(command.target)) return std::string("invalid target");
  const auto& length = words[2];
  int number = 0;
  const auto* end = length.data() + length.size();
  const auto [rest, error] = std::from_chars(length.data(), end, number);
  const bool is_days = error == std::errc{} && std::string_view(rest, end) == "d";
  if (!is_days || number < 1 || number > kDaysMax) {
    return "how long is 1d to " + std::to_string(kDaysMax) + "d";
  }
  command.length = std::chrono::hours(24 * number);
  command.reason = joined(words, 3);
  return command;
}

Read read_compare(const Words& words, Command command) {
  std::size_t at = 1;
  if (words.size() > 1 && is_sha(words[1])) command.head = lower(words[at++]);
  for (; at < words.size(); ++at) {
    const auto& name = words[at];
    if (!is_plain_name(name)) return std::string("invalid name of a workload");
    if (name.find('=') != std::string::npos) {
      return std::string("compare has no options: a commit may come first, then workloads");
    }
    command.workloads.push_back(name);
  }
  if (command.workloads.size() <= kWorkloadsMax) return command;
  return "at most " + std::to_string(kWorkloadsMax) + " workloads, or none for the whole suite";
}

Read read_command(CommandName name, const Words& words) {
  Command command;
  command.name = name;
  switch (name) {
    case CommandName::bisect:
      if (words.size() == 2 && words[1] == "help") return Command{};
      return read_bisect(words, std::move(command));
    case CommandName::retest:
      return read_retest(words, std::move(command));
    case CommandName::ack:
      return read_reason(words, std::move(command));
    case CommandName::wrong:
      return read_wrong(words, std::move(command));
    case CommandName::mute:
      return read_mute(words, std::move(command));
    case CommandName::compare:
      return read_compare(words, std::move(command));
    case CommandName::unack:
    case CommandName::cancel:
    case CommandName::help:
      return read_nothing(words, std::move(command));
  }
  return std::string("an unknown command");
}

/// Returns the words of a line that begins with the prefix and a word: the word without the prefix
/// first. Empty for any other line.
Words command_words(const PlainLine& line, std::string_view prefix) {
  if (line.plain < prefix.size() || !line.text.starts_with(prefix)) return {};
  auto words = words_of(std::string_view(line.text).substr(prefix.size()));
  const bool follows = line.text.size() > prefix.size() && line.text[prefix.size()] > ' ';
  if (!follows || words.empty()) return {};
  // The whole first token is as written: "/ack" of "/ack`x`" is not.
  if (line.plain < prefix.size() + words.front().size()) return {};
  return words;
}

const Form* known(const std::string& word) {
  const auto* found = std::ranges::find(kForms, word, &Form::word);
  return found == kForms.end() ? nullptr : found;
}

/// What an unknown word means: a slash begins other programs' commands, too.
Parsed unknown(const std::string& word, std::string_view prefix) {
  std::vector<std::string> names;
  for (const auto& each : kForms) names.emplace_back(each.word);
  const auto near = word.size() <= kWordBytesMax ? nearest(word, names) : Words{};
  if (near.empty() && prefix == "/") return {};
  const auto meant = near.empty() ? CommandName::help : known(near.front())->name;
  return Mistake{near.empty() ? "there is no such command"
                              : "there is no such command; did you "
                                "mean " +
                                    near.front() + "?",
                 form_of(meant, prefix)};
}

Parsed parsed_line(const Words& words, std::string_view prefix) {
  const auto* form = known(words.front());
  if (form == nullptr) return unknown(words.front(), prefix);
  auto read = read_command(form->name, words);
  if (auto* command = std::get_if<Command>(&read)) return std::move(*command);
  return Mistake{std::get<std::string>(read), form_of(form->name, prefix)};
}

}  // namespace

std::string_view to_string(CommandName name) {
  return form(name).word;
}

std::string form_of(CommandName name, std::string_view prefix) {
  const auto& [ignored, word, rest] = form(name);
  return std::string(prefix) + std::string(word) + std::string(rest);
}

Parsed parse_command(std::string_view markdown, std::string_view prefix) {
  Parsed first;
  for (const auto& line : lines_of_paragraphs(markdown)) {
    const auto words = command_words(line, prefix);
    if (words.empty()) continue;
    auto parsed = parsed_line(words, prefix);
    if (std::holds_alternative<std::monostate>(parsed)) continue;
    if (!std::holds_alternative<std::monostate>(first)) {
      return Mistake{"one command a comment: this one has several, and none was carried out", ""};
    }
    first = std::move(parsed);
  }
  return first;
}

}  // namespace torchwatch::conversation
